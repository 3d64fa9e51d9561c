/**
 * When to hedge: how long an attempt may take before another is sent beside it, and when not to at all.
 *
 * A fixed delay is right until the dependency changes. A live one follows a percentile of what attempts lately took,
 * so that about one call in 20 (for the 95th) is hedged, whatever "slow" means today. While it has seen too few it does
 * not hedge. A dependency that asks for less gets no second copies for a while: hedges help against one slow replica
 * among healthy ones, and harm when all are slow.
 *
 * Sources: Dean and Barroso, "The Tail at Scale" (the 95th percentile, about 5 % more requests); gRPC A6 (pushback
 * ends hedging); the resilience notes, §05.
 */
import { OptionError } from "../errors.ts";
import { LatencyWindow } from "../latency/machine.ts";
import { checkBoolean, checkKeys, checkMs, checkNumber, orDefault } from "../options.ts";

/** A delay that follows what attempts take; the field `delayMs` takes it in place of a number. */
export interface LiveDelayOptions {
  /** The share of attempts that are quicker than the delay; 0.5 to 0.999. Default 0.95 (The Tail at Scale). */
  readonly percentile?: number;
  /** What it looks back on, in ms, 10 to 86,400,000; between half of it and all. Default 60,000 (our choice). */
  readonly windowMs?: number;
  /** Nothing is hedged before as many attempts were seen, 1 to 1,000,000, whole. Default 100 (our choice). */
  readonly minSamples?: number;
  /** Never sooner than this, in ms, 0 to 2^31 − 1. Default 1 (a timer is no finer). */
  readonly minMs?: number;
}

/** Options of `hedge`. */
export interface HedgeOptions {
  /**
   * How long the latest attempt may take before another is sent, in ms, 1 to 2^31 − 1 (about the measured P95), or
   * `{ percentile }` to follow it. No default.
   */
  readonly delayMs: number | LiveDelayOptions;
  /** Attempts that may be in flight for one call, the first included; 2 to 10, whole. Default 2 (The Tail at Scale). */
  readonly attempts?: number;
  /**
   * After the dependency has asked for less (429, 503), nothing is hedged for this long, in ms, 0 to 2^31 − 1, or for as
   * long as it said, if that is longer. Default 1,000 (our choice).
   */
  readonly quietMs?: number;
  /**
   * Whether the attempts are tied: as soon as the work says that the callee has begun on one (`attempt.started()`), the
   * others are given up and no more are sent. Default false: not every callee says so (The Tail at Scale).
   */
  readonly tied?: boolean;
}

/** Decides when to hedge. */
export class HedgePolicy {
  readonly attempts: number;
  readonly tied: boolean;
  private readonly fixedMs: number;
  private readonly latencies: LatencyWindow | null;
  private readonly percentile: number;
  private readonly minSamples: number;
  private readonly minMs: number;
  private readonly quietMs: number;
  private quietUntil = -Infinity;

  constructor(options: HedgeOptions, field = "hedge") {
    checkKeys(field, options, ["delayMs", "attempts", "quietMs", "tied"]);
    const { delayMs } = options;
    const live =
      typeof delayMs === "object" && delayMs !== null ? checkLive(`${field}.delayMs`, delayMs) : null;
    this.fixedMs = live === null ? checkFixed(`${field}.delayMs`, delayMs) : 0;
    this.percentile = live?.percentile ?? 0;
    this.minSamples = live?.minSamples ?? 0;
    this.minMs = live?.minMs ?? 0;
    this.latencies = live === null ? null : new LatencyWindow(live.windowMs, `${field}.delayMs.windowMs`);
    this.attempts = checkNumber(`${field}.attempts`, orDefault(options.attempts, 2), {
      min: 2,
      max: 10,
      integer: true,
    });
    this.quietMs = checkMs(`${field}.quietMs`, orDefault(options.quietMs, 1_000));
    this.tied = checkBoolean(`${field}.tied`, orDefault(options.tied, false));
  }

  /** How long an attempt that begins at `now` may take before another is sent; `Infinity` for as long as it likes. */
  delayMs(now: number): number {
    if (now < this.quietUntil) return Infinity;
    const { latencies } = this;
    if (latencies === null) return this.fixedMs;
    if (latencies.total(now) < this.minSamples) return Infinity;
    return Math.max(this.minMs, latencies.percentile(this.percentile, now) as number);
  }

  /** Whether the dependency has lately asked for less. */
  isQuiet(now: number): boolean {
    return now < this.quietUntil;
  }

  /** An attempt took this long; or was given up at that age, which is the least it would have taken. */
  took(ms: number, now: number): void {
    this.latencies?.record(ms, now);
  }

  /** The dependency asked for less: for `pushbackMs`, if it said how long. */
  overloaded(pushbackMs: number, now: number): void {
    this.quietUntil = Math.max(this.quietUntil, now + Math.max(this.quietMs, pushbackMs));
  }
}

function checkFixed(field: string, delayMs: unknown): number {
  if (typeof delayMs !== "number") throw new OptionError(field, delayMs, "a number of ms, or { percentile }");
  return checkMs(field, delayMs, { min: 1 });
}

function checkLive(field: string, live: LiveDelayOptions): Required<LiveDelayOptions> {
  checkKeys(field, live, ["percentile", "windowMs", "minSamples", "minMs"]);
  return {
    percentile: checkNumber(`${field}.percentile`, orDefault(live.percentile, 0.95), {
      min: 0.5,
      max: 0.999,
    }),
    windowMs: orDefault(live.windowMs, 60_000),
    minSamples: checkNumber(`${field}.minSamples`, orDefault(live.minSamples, 100), {
      min: 1,
      max: 1_000_000,
      integer: true,
    }),
    minMs: checkMs(`${field}.minMs`, orDefault(live.minMs, 1)),
  };
}
