/** Numbers and names of a system file, for zod. What is wrong is answered by what is allowed. */
import { z } from "zod";

/** The longest duration in ms. */
export const MAX_MS = 2_147_483_647;

/** A number in a range, and the sentence that says so. */
export function range(min: number, max: number): z.ZodNumber {
  const error = `a number from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
}

/** The same for whole numbers. */
export function whole(min: number, max: number): z.ZodInt {
  const error = `a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** A text of some form. */
export function named(pattern: RegExp, error: string): z.ZodString {
  return z.string({ error }).regex(pattern, { error });
}

/** One of these words. */
export function oneOf<const W extends readonly [string, ...string[]]>(...words: W): z.ZodType<W[number]> {
  return z.enum(words, { error: words.map((word) => `"${word}"`).join(" or ") }) as never;
}

/** A number, or the word for no bound at all. */
export function orUnbounded(number: z.ZodType<number>, error: string): z.ZodType<number | "unbounded"> {
  return z.union([number, z.literal("unbounded")], { error: `${error}, or "unbounded"` });
}

/** Yes or no. */
export const bool: z.ZodBoolean = z.boolean({ error: "true or false" });
/** A duration in ms, 0 included. */
export const ms: z.ZodNumber = range(0, MAX_MS);
/** A duration that may not be 0. */
export const timeoutMs: z.ZodNumber = range(1, MAX_MS);
/** From none to all. */
export const share: z.ZodNumber = range(0, 1);
/** The name of something in the file. */
export const name: z.ZodString = named(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, "a name of letters, digits, - and _");
