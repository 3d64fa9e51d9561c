/** Stands in for the functions of a file that is checked or explained, and not run. */
import type { Functions } from "./bind.ts";
import type { GuardSpec, SystemFile } from "./types.ts";

/** A function that does nothing behind each name. */
export function stubs({ edges }: SystemFile): Functions {
  const names = Object.values(edges).flatMap((edge) =>
    Object.values(edge.operations).flatMap(({ fallback }) => nameOf(fallback) ?? []),
  );
  return { fallbacks: Object.fromEntries(names.map((name) => [name, () => undefined])) };
}

function nameOf(fallback: GuardSpec["fallback"]): string | undefined {
  if (typeof fallback === "string" || fallback === undefined) return fallback;
  return "kind" in fallback ? undefined : fallback.run;
}
