// A fault put into the sources on purpose: a few words of them, and what they become.

/** A change to one file: `find` stands there exactly once, but for white space. */
export interface Change {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  /** The law it breaks, as the design counts them. */
  readonly law: string;
  readonly changes: readonly Change[];
}

export const mutant = (
  law: string,
  name: string,
  ...changes: [file: string, find: string, replace: string][]
): Mutant => ({
  name,
  law,
  changes: changes.map(([file, find, replace]) => ({ file: `src/core/${file}`, find, replace })),
});

/** A pattern that finds a text whatever white space it is broken over. */
export function patternOf(find: string): RegExp {
  const parts = find.split(" ").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join("\\s+"), "g");
}
