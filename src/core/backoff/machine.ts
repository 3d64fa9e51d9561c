/**
 * Backoff: how long to wait before a repeat. Exponential growth lowers the rate of repeats while a dependency
 * recovers; the cap keeps waits sensible; jitter breaks up callers that failed together. Jitter does not lower the
 * number of repeats: that is the budget's work.
 *
 * The kinds are plain data, so a system file can hold them. Ceilings grow by multiplication and stop at the cap, so
 * the 5,000th wait is as finite as the first. Sources: the resilience notes, §04 (the four formulas); AWS
 * Architecture Blog, "Exponential Backoff And Jitter" (2015); AWS SDK retry behaviour 2.1 (50 ms, 20 s).
 */
import { OptionError } from "../errors.ts";
import { checkKeys, checkMs, checkNumber, checkObject, checkOneOf, orDefault } from "../options.ts";
import type { Random } from "../random.ts";

/** How waits grow. */
export interface GrowthOptions {
  /** Ceiling of the first wait, in ms; above 0, to 2^31 − 1. Default 50 (AWS SDK retry behaviour 2.1). */
  readonly baseMs?: number;
  /** No wait is longer, in ms; `baseMs` to 2^31 − 1. Default 20,000 (AWS SDK). */
  readonly capMs?: number;
  /** Growth per repeat, 1 to 1,000. Default 2 (AWS Architecture Blog). */
  readonly factor?: number;
}

/** A backoff as data; make one with `fullJitter`, `equalJitter`, `decorrelatedJitter`, `exponential`, `constant`. */
export type BackoffSpec =
  | ({ readonly kind: "fullJitter" | "equalJitter" | "exponential" } & GrowthOptions)
  | { readonly kind: "decorrelatedJitter"; readonly baseMs?: number; readonly capMs?: number }
  | { readonly kind: "constant"; readonly delayMs: number }
  | { readonly kind: "none" };

/** Your own schedule: the wait in ms before repeat `repeat` (1 for the first), given the wait before. */
export type BackoffFunction = (repeat: number, previousMs: number, random: Random) => number;

/** What the option `backoff` takes. */
export type BackoffOption = BackoffSpec | BackoffFunction;

/** Uniform in [0, ceiling): spreads callers the widest. The default. */
export function fullJitter(options: GrowthOptions = {}): BackoffSpec {
  return { kind: "fullJitter", ...options };
}

/** Half the ceiling, plus up to the other half: never shorter than half. */
export function equalJitter(options: GrowthOptions = {}): BackoffSpec {
  return { kind: "equalJitter", ...options };
}

/** Uniform in [base, 3 × the wait before), capped: no rigid schedule. */
export function decorrelatedJitter(options: { baseMs?: number; capMs?: number } = {}): BackoffSpec {
  return { kind: "decorrelatedJitter", ...options };
}

/** The ceiling itself, without jitter: callers that failed together repeat together. */
export function exponential(options: GrowthOptions = {}): BackoffSpec {
  return { kind: "exponential", ...options };
}

/** Always the same wait, without jitter. */
export function constant(delayMs: number): BackoffSpec {
  return { kind: "constant", delayMs };
}

/** No wait at all: what many libraries ship as their default, and what an outage is made of. */
export const immediately: BackoffSpec = Object.freeze({ kind: "none" });

const KINDS = ["fullJitter", "equalJitter", "decorrelatedJitter", "exponential", "constant", "none"] as const;

/** What each kind takes. A field of another kind would be a wish that nobody reads. */
const FIELDS: Readonly<Record<(typeof KINDS)[number], readonly string[]>> = {
  fullJitter: ["baseMs", "capMs", "factor"],
  equalJitter: ["baseMs", "capMs", "factor"],
  decorrelatedJitter: ["baseMs", "capMs"],
  exponential: ["baseMs", "capMs", "factor"],
  constant: ["delayMs"],
  none: [],
};

/** Computes waits. Keeps nothing: the wait before is passed in. */
export class Backoff {
  readonly spec: BackoffOption;
  private readonly baseMs: number;
  private readonly capMs: number;
  private readonly factor: number;

  constructor(given: BackoffOption = fullJitter(), field = "backoff") {
    if (typeof given === "function") {
      this.spec = given;
      this.baseMs = this.capMs = this.factor = 0;
      return;
    }
    checkObject(field, given);
    // A copy: what is changed later was never checked, and a wait of NaN would have no end.
    const spec = { ...given };
    this.spec = Object.freeze(spec);
    checkKeys(field, spec, ["kind", ...FIELDS[checkOneOf(`${field}.kind`, spec.kind, KINDS)]]);
    const growth = spec as GrowthOptions & { delayMs?: number };
    if (spec.kind === "constant") checkMs(`${field}.delayMs`, growth.delayMs);
    const { baseMs, capMs, factor = 2 } = growth;
    if (capMs !== undefined) checkMs(`${field}.capMs`, capMs, { above: 0 });
    this.baseMs = checkMs(`${field}.baseMs`, orDefault(baseMs, Math.min(50, capMs ?? 50)), { above: 0 });
    this.capMs = orDefault(capMs, Math.max(20_000, this.baseMs));
    this.factor = checkNumber(`${field}.factor`, factor, { min: 1, max: 1000 });
    if (this.capMs < this.baseMs) {
      throw new OptionError(`${field}.capMs`, this.capMs, `at least baseMs, which is ${this.baseMs}`);
    }
  }

  /** The wait before repeat `repeat` (1 for the first); `previousMs` is the wait before the last one, 0 at first. */
  delayMs(repeat: number, previousMs: number, random: Random): number {
    const { spec } = this;
    if (typeof spec === "function") return this.own(spec(repeat, previousMs, random));
    if (spec.kind === "none") return 0;
    if (spec.kind === "constant") return spec.delayMs;
    if (spec.kind === "decorrelatedJitter") {
      const low = this.baseMs;
      const high = Math.max(low, previousMs * 3);
      return Math.min(this.capMs, low + random.next() * (high - low));
    }
    const ceiling = this.ceilingMs(repeat);
    if (spec.kind === "exponential") return ceiling;
    if (spec.kind === "fullJitter") return random.next() * ceiling;
    return ceiling / 2 + (random.next() * ceiling) / 2;
  }

  private ceilingMs(repeat: number): number {
    let ceiling = this.baseMs;
    if (this.factor === 1) return ceiling;
    for (let i = 1; i < repeat && ceiling < this.capMs; i++) ceiling *= this.factor;
    return Math.min(this.capMs, ceiling);
  }

  private own(delayMs: number): number {
    return checkMs("the wait that backoff() returned", delayMs);
  }
}
