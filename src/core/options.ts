/**
 * Checks on options, made once, when a guard is made: a wrong value is refused by name before anything starts, and
 * never corrected in silence. A duration is at most 2^31 − 1 ms, because a longer timer becomes 1 ms in Node.
 */
import { OptionError } from "./errors.ts";
import { MAX_TIMER_MS } from "./runtime.ts";

/** A range for a number; both ends are allowed unless `above` is given. */
export interface Range {
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
  readonly integer?: boolean;
  /** Whether `Infinity` may be typed out, to mean "no bound". */
  readonly orInfinity?: boolean;
}

/** Returns `value` if it is a number in the range; throws an `OptionError` otherwise. */
export function checkNumber(field: string, value: unknown, range: Range): number {
  if (typeof value === "number") {
    if (value === Infinity && range.orInfinity === true) return value;
    const { min = range.above ?? 0, above, max = Number.MAX_SAFE_INTEGER } = range;
    const inside = value >= min && value <= max && (above === undefined || value > above);
    if (inside && (range.integer !== true || Number.isInteger(value))) return value;
  }
  throw new OptionError(field, value, describe(range));
}

/** What was given, or the default if it was left out. Null is given, and is refused like any wrong value. */
export function orDefault<T>(given: T | undefined, byDefault: T): T {
  return given === undefined ? byDefault : given;
}

/** A duration in ms: 0 to 2^31 − 1. */
export function checkMs(field: string, value: unknown, range: Range = {}): number {
  return checkNumber(field, value, { max: MAX_TIMER_MS, ...range });
}

/** Refuses fields that nobody reads: a misspelt option is a guard that is not there. */
export function checkKeys(field: string, options: unknown, known: readonly string[]): void {
  checkObject(field, options);
  for (const key of Object.keys(options as object)) {
    if (!known.includes(key)) {
      throw new OptionError(
        `${field}.${key}`,
        (options as Record<string, unknown>)[key],
        `nothing (known here: ${known.join(", ")})`,
      );
    }
  }
}

/** Refuses anything but a plain record of options. */
export function checkObject(field: string, options: unknown): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new OptionError(field, options, "an object of options");
  }
}

/** Returns `value` if it is one of the given words. */
export function checkOneOf<T extends string>(field: string, value: unknown, words: readonly T[]): T {
  if (words.includes(value as T)) return value as T;
  throw new OptionError(field, value, words.map((word) => JSON.stringify(word)).join(" or "));
}

/** Returns `value` if it is true or false. */
export function checkBoolean(field: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new OptionError(field, value, "true or false");
}

/** Returns `value` if it is a function. */
export function checkFunction<F>(field: string, value: F): F {
  if (typeof value === "function") return value;
  throw new OptionError(field, value, "a function");
}

function describe({ min, above, max, integer, orInfinity }: Range): string {
  const kind = integer === true ? "a whole number" : "a number";
  const low = above !== undefined ? `above ${above}` : `of at least ${min ?? 0}`;
  const high = max === undefined || max === Number.MAX_SAFE_INTEGER ? "" : ` and at most ${max}`;
  return `${kind} ${low}${high}${orInfinity === true ? ", or Infinity" : ""}`;
}
