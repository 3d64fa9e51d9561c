/** Request headers in the forms that undici takes: a flat list, a record, or pairs. */
/** Names and values in turn. */
export type HeaderList = readonly string[];

/** The headers as a flat list. Throws a `TypeError` for a form that undici would refuse, too. */
export function headersOf(headers: unknown): HeaderList {
  if (headers == null) return [];
  if (Array.isArray(headers)) return headers.flatMap((value) => value as string);
  if (typeof headers !== "object") throw new TypeError("headers must be a list, a record or pairs");
  const pairs =
    Symbol.iterator in headers
      ? [...(headers as Iterable<[string, string | string[]]>)]
      : Object.entries(headers as Record<string, string | string[] | undefined>);
  return pairs.flatMap(([name, value]) => {
    if (value === undefined) return [];
    return Array.isArray(value) ? value.flatMap((each) => [name, each]) : [name, value];
  });
}

/** The value of a header in a list, or undefined. */
export function lookUp(list: HeaderList, wanted: string): string | undefined {
  for (let i = 0; i < list.length; i += 2) if (list[i]?.toLowerCase() === wanted) return list[i + 1];
  return undefined;
}
