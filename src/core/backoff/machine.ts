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
import { MAX_TIMER_MS } from "../runtime.ts";

/** How waits grow. */
export interface GrowthOptions {
  /** Ceiling of the first wait, in ms; above 0, to 2^31 − 1. Default 50 (AWS SDK retry behaviour 2.1). */
  readonly baseMs?: number;
  /** No wait is longer, in ms; `baseMs` to 2^31 − 1. Default 20,000 (AWS SDK). */
  readonly capMs?: number;
  /** Growth per repeat, 1 to 1,000; gRPC's may shrink. Default 2 (AWS Architecture Blog). */
  readonly factor?: number;
}

/** gRPC's three numbers, under the names of its service config. */
export interface GrpcBackoffOptions {
  /** `initialBackoff`, in ms; above 0, to 2^31 − 1. No default, as in a service config (gRPC A6). */
  readonly initialBackoffMs: number;
  /** `maxBackoff`, in ms; `initialBackoffMs` to 2^31 − 1. No default. */
  readonly maxBackoffMs: number;
  /** `backoffMultiplier`; above 0, to 1,000. No default. */
  readonly backoffMultiplier: number;
}

/** AWS SDK retry behaviour 2.1; DynamoDB's clients have a `baseMs` of 25. */
export interface AwsBackoffOptions {
  /** Ceiling of the first wait after a transient failure, in ms; above 0, to 2^31 − 1. Default 50. */
  readonly baseMs?: number;
  /** The same after throttling, in ms; above 0, to 2^31 − 1. Default 1,000. */
  readonly throttlingBaseMs?: number;
  /** No wait is longer, in ms; `baseMs` to 2^31 − 1. Default 20,000. */
  readonly capMs?: number;
}

/** A backoff as data; make one with the functions below. */
export type BackoffSpec =
  | ({ readonly kind: "fullJitter" | "equalJitter" | "exponential" } & GrowthOptions)
  | ({ readonly kind: "spread"; readonly jitter?: number } & GrowthOptions)
  | { readonly kind: "decorrelatedJitter" | "envoy"; readonly baseMs?: number; readonly capMs?: number }
  | ({ readonly kind: "aws" } & AwsBackoffOptions)
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

/**
 * The ceiling, give or take a share of it, 0 to 1 (default 0.2): never at once, and up to that much above the cap.
 * Source: gRPC A6, whose jitter comes after the cap.
 */
export function spread(options: GrowthOptions & { jitter?: number } = {}): BackoffSpec {
  return { kind: "spread", ...options };
}

/** gRPC's (A6): min(initial × multiplier^(n − 1), max), give or take a fifth. Throws an `OptionError`. */
export function grpcBackoff(options: GrpcBackoffOptions): BackoffSpec {
  checkKeys("grpcBackoff", options, ["initialBackoffMs", "maxBackoffMs", "backoffMultiplier"]);
  const baseMs = checkMs("grpcBackoff.initialBackoffMs", options.initialBackoffMs, { above: 0 });
  const capMs = checkMs("grpcBackoff.maxBackoffMs", options.maxBackoffMs, { min: baseMs });
  const factor = checkNumber("grpcBackoff.backoffMultiplier", options.backoffMultiplier, {
    above: 0,
    max: 1_000,
  });
  return { kind: "spread", baseMs, capMs, factor, jitter: 0.2 };
}

/** Envoy's: uniform in [0, (2^n − 1) × base), capped. Defaults: 25 ms, and a cap of ten times the base. */
export function envoyBackoff(options: { baseMs?: number; capMs?: number } = {}): BackoffSpec {
  return { kind: "envoy", ...options };
}

/** The AWS SDKs' since November 2026 (2.1): full jitter in whole ms, from a larger base after throttling. */
export function awsBackoff(options: AwsBackoffOptions = {}): BackoffSpec {
  return { kind: "aws", ...options };
}

/** Always the same wait, without jitter. */
export function constant(delayMs: number): BackoffSpec {
  return { kind: "constant", delayMs };
}

/** No wait at all: what many libraries ship as their default, and what an outage is made of. */
export const immediately: BackoffSpec = Object.freeze({ kind: "none" });

type Kind = BackoffSpec["kind"];

/** What each kind takes. A field of another kind would be a wish that nobody reads. */
const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  fullJitter: ["baseMs", "capMs", "factor"],
  equalJitter: ["baseMs", "capMs", "factor"],
  exponential: ["baseMs", "capMs", "factor"],
  spread: ["baseMs", "capMs", "factor", "jitter"],
  decorrelatedJitter: ["baseMs", "capMs"],
  envoy: ["baseMs", "capMs"],
  aws: ["baseMs", "throttlingBaseMs", "capMs"],
  constant: ["delayMs"],
  none: [],
};
const KINDS = Object.keys(FIELDS) as Kind[];

/** Checked numbers of a backoff; those that its kind does not take stand at their defaults. */
interface Numbers {
  readonly baseMs: number;
  readonly capMs: number;
  readonly factor: number;
  readonly jitter: number;
  readonly throttlingBaseMs: number;
  readonly delayMs: number;
}

/** What the dependency said with the failure. */
export interface Said {
  /** Whether it asked for less. */
  readonly throttled: boolean;
  /** The least wait that it asked for in ms, or null. */
  readonly hintMs: number | null;
}

const NOTHING: Said = { throttled: false, hintMs: null };

/** AWS: a hint is taken up to this far above the wait that would be. */
const AWS_HINT_MS = 5_000;

/** What a wait depends on beside the numbers: the last failure, the wait before it, and chance in [0, 1). */
interface Moment {
  readonly repeat: number;
  readonly previousMs: number;
  readonly throttled: boolean;
  readonly chance: number;
}

/** The formulas. Those that know no chance draw none, so that changing a kind shifts nothing else. */
const WAIT: Readonly<Record<Kind, (n: Numbers, at: Moment) => number>> = {
  none: () => 0,
  constant: (n) => n.delayMs,
  exponential: (n, { repeat }) => grown(n.baseMs, n, repeat),
  fullJitter: (n, { repeat, chance }) => chance * grown(n.baseMs, n, repeat),
  equalJitter: (n, { repeat, chance }) => ((1 + chance) * grown(n.baseMs, n, repeat)) / 2,
  spread: (n, { repeat, chance }) => (1 + n.jitter * (2 * chance - 1)) * grown(n.baseMs, n, repeat),
  decorrelatedJitter: (n, { previousMs, chance }) =>
    Math.min(n.capMs, n.baseMs + chance * (Math.max(n.baseMs, previousMs * 3) - n.baseMs)),
  envoy: (n, { repeat, chance }) =>
    chance * Math.min(n.capMs, grown(2 * n.baseMs, n, repeat, Infinity) - n.baseMs),
  aws: (n, { repeat, throttled, chance }) =>
    Math.floor(chance * grown(throttled ? n.throttlingBaseMs : n.baseMs, n, repeat)),
};
const WITHOUT_CHANCE: readonly Kind[] = ["none", "constant", "exponential"];

/** What `baseMs` has grown to at the `repeat`-th repeat. It stops at the first value that reaches the cap. */
function grown(baseMs: number, { capMs, factor }: Numbers, repeat: number, limitMs = capMs): number {
  let ms = baseMs;
  for (let i = 1; i < repeat && ms <= capMs && factor !== 1; i++) ms *= factor;
  return Math.min(limitMs, ms);
}

/** Computes waits. Keeps nothing: the wait before is passed in. */
export class Backoff {
  readonly spec: BackoffOption;
  private readonly numbers: Numbers;

  constructor(given: BackoffOption = fullJitter(), field = "backoff") {
    // A copy: what is changed later was never checked, and a wait of NaN would have no end.
    this.spec = typeof given === "function" ? given : Object.freeze(checkSpec(field, given));
    this.numbers = checkNumbers(field, typeof this.spec === "function" ? { kind: "none" } : this.spec);
  }

  /**
   * The wait before repeat `repeat` (1 for the first); `previousMs` is the wait before the last one, 0 at first. The
   * dependency's hint is the least: the backoff, and its jitter, come on top. Only AWS's puts it within 5 s of its own.
   */
  delayMs(repeat: number, previousMs: number, random: Random, said: Said = NOTHING): number {
    const { spec } = this;
    const hintMs = said.hintMs ?? 0;
    if (typeof spec === "function")
      return hintMs + checkMs("the wait that backoff() returned", spec(repeat, previousMs, random));
    const chance = WITHOUT_CHANCE.includes(spec.kind) ? 0 : random.next();
    const ms = WAIT[spec.kind](this.numbers, { repeat, previousMs, throttled: said.throttled, chance });
    if (spec.kind === "aws" && said.hintMs !== null) return Math.min(Math.max(hintMs, ms), ms + AWS_HINT_MS);
    return Math.min(MAX_TIMER_MS, hintMs + ms);
  }
}

function checkSpec(field: string, given: BackoffSpec): BackoffSpec {
  checkObject(field, given);
  checkKeys(field, given, ["kind", ...FIELDS[checkOneOf(`${field}.kind`, given.kind, KINDS)]]);
  return { ...given };
}

function checkNumbers(field: string, spec: BackoffSpec): Numbers {
  const given = spec as GrowthOptions & AwsBackoffOptions & { jitter?: number; delayMs?: number };
  const ms = (name: "baseMs" | "capMs" | "throttlingBaseMs", byDefault: number): number =>
    checkMs(`${field}.${name}`, orDefault(given[name], byDefault), { above: 0 });
  const first = spec.kind === "envoy" ? 25 : 50;
  const most = given.capMs === undefined ? first : ms("capMs", 0);
  const baseMs = ms("baseMs", Math.min(first, most));
  const byDefault = spec.kind === "envoy" ? 10 * baseMs : Math.max(20_000, baseMs);
  const capMs = ms("capMs", Math.min(MAX_TIMER_MS, byDefault));
  const factors = spec.kind === "spread" ? { above: 0, max: 1_000 } : { min: 1, max: 1_000 };
  if (capMs < baseMs) throw new OptionError(`${field}.capMs`, capMs, `at least baseMs, which is ${baseMs}`);
  return {
    baseMs,
    capMs,
    factor: checkNumber(`${field}.factor`, orDefault(given.factor, 2), factors),
    jitter: checkNumber(`${field}.jitter`, orDefault(given.jitter, 0.2), { max: 1 }),
    throttlingBaseMs: ms("throttlingBaseMs", 1_000),
    delayMs: spec.kind === "constant" ? checkMs(`${field}.delayMs`, given.delayMs) : 0,
  };
}
