/** Arguments of a command: `--name value`, checked, with errors that name the argument, its value and what is allowed. */

/** How an argument is read. Without `read` it takes no value. */
export interface Argument<T = unknown> {
  readonly fallback: T;
  /** What is allowed, in words. */
  readonly allowed?: string;
  /** The value of a text, or undefined if it is none. */
  read?(text: string): T | undefined;
  readonly about: string;
}

type Table = Readonly<Record<string, Argument>>;
type Values<A extends Table> = {
  readonly [Name in keyof A]: A[Name] extends Argument<infer T> ? T : never;
};

/** A wrong argument. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
}

/** Reads `argv` by a table of arguments. Throws an `ArgumentError` for the first that is wrong. */
export function readArguments<A extends Table>(argv: readonly string[], table: A): Values<A> {
  const values: Record<string, unknown> = {};
  for (const [name, { fallback }] of Object.entries(table)) values[name] = fallback;
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name = "", joined] = /^--([a-z]+)(?:=(.*))?$/.exec(word) ?? [];
    const argument = Object.hasOwn(table, name) ? table[name] : undefined;
    if (argument === undefined) {
      const all = Object.keys(table).map((each) => `--${each}`);
      throw new ArgumentError(`${word} is not known here; allowed: ${all.join(", ")}`);
    }
    if (argument.read === undefined) {
      if (joined !== undefined) throw new ArgumentError(`--${name} takes no value; got ${joined}`);
      values[name] = true;
      continue;
    }
    const text = joined ?? rest.shift();
    const value = text === undefined ? undefined : argument.read(text);
    if (value === undefined) {
      const got = text === undefined ? "nothing" : JSON.stringify(text);
      throw new ArgumentError(`--${name}: got ${got}; allowed: ${argument.allowed}`);
    }
    values[name] = value;
  }
  return values as Values<A>;
}

/** An argument without a value. */
export function flag(about: string): Argument<boolean> {
  return { fallback: false, about };
}

/** One of some words. */
export function oneOf<W extends string, F>(words: readonly W[], fallback: F, about: string): Argument<W | F> {
  const read = (text: string): W | undefined => words.find((word) => word === text);
  return { fallback, allowed: words.join(", "), read, about };
}

/** A whole number. */
export function wholeNumber<F>(min: number, max: number, fallback: F, about: string): Argument<number | F> {
  const read = (text: string): number | undefined => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };
  return { fallback, allowed: `a whole number from ${min} to ${max}`, read, about };
}

/** The arguments in words, one a line. */
export function described(table: Table): string {
  const words = Object.entries(table).map(([name, { allowed, about }]) => ({
    name: allowed === undefined ? `--${name}` : `--${name} VALUE`,
    about: allowed === undefined ? about : `${about}: ${allowed}`,
  }));
  const width = Math.max(...words.map(({ name }) => name.length));
  return words.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join("\n");
}
