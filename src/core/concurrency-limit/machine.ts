/**
 * Adaptive concurrency limits: how many calls may be in flight, found by trying.
 *
 * Both rules add one place while things go well, and multiply by less than one when they do not, so that callers who
 * share a dependency come out with fair shares (additive increase, multiplicative decrease). They differ in what "well"
 * is. `aimd` hears only what the dependency says: an overload, or a timeout. `latencyAimd` also watches how long calls
 * take beside the best it has seen, and so reduces before anything fails. Neither grows while less than half of it is
 * in use: an idle limit proves nothing.
 *
 * Invariant: min ≤ limit ≤ max, whole. One overload, however many calls meet it, cuts once: what was sent before the
 * last cut was sent under the old limit, and says nothing about the new one.
 * Sources: Chiu and Jain (1989), fairness of the rule; Netflix concurrency-limits (AIMD, 0.9); the resilience notes,
 * §12 (× 0.8, + 1); the case files on limits that creep and on polluted baselines.
 */
import { OptionError } from "../errors.ts";
import { checkKeys, checkMs, checkNumber, checkObject, checkOneOf, orDefault } from "../options.ts";

/** The bounds of a limit that learns. */
export interface LimitBoundsOptions {
  /** The limit to begin with; `min` to `max`, whole. Default 20 (Netflix), or the nearer of the two bounds. */
  readonly initial?: number;
  /** Never below this; 1 to 1,000,000, whole. Default 1. */
  readonly min?: number;
  /** Never above this; `min` to 1,000,000, whole. Default 200 (Netflix), or `min` if that is more. */
  readonly max?: number;
}

/** Options of `aimd`. */
export interface AimdOptions extends LimitBoundsOptions {
  /** What an overload multiplies the limit by; 0.1 to 0.99. Default 0.9 (Netflix concurrency-limits). */
  readonly cut?: number;
}

/** Options of `latencyAimd`. */
export interface LatencyAimdOptions extends LimitBoundsOptions {
  /** What pressure multiplies the limit by; 0.1 to 0.99. Default 0.8 (the resilience notes, §12). */
  readonly cut?: number;
  /** How often it decides, in ms, 10 to 3,600,000. Default 1,000 (our choice). */
  readonly intervalMs?: number;
  /** It decides only with at least this many latencies, 1 to 1,000,000, whole. Default 20 (our choice). */
  readonly minSamples?: number;
  /** Grows below this multiple of the baseline; 1 to 100. Default 1.5 (our choice). */
  readonly low?: number;
  /** Cuts above this multiple of the baseline; `low` to 1,000. Default 2 (our choice). */
  readonly high?: number;
  /**
   * The latency without any queue, in ms; above 0, to 2^31 − 1. Default: learned (by looking now and then with half the
   * limit, for one interval in 50 to 100).
   */
  readonly baselineMs?: number;
}

/** An adaptive limit as data; make one with `aimd` or `latencyAimd`. */
export type LimitSpec =
  | ({ readonly kind: "aimd" } & AimdOptions)
  | ({ readonly kind: "latencyAimd" } & LatencyAimdOptions);

/** One more place for each limit's worth of good answers; a cut at an overload. */
export function aimd(options: AimdOptions = {}): LimitSpec {
  return { kind: "aimd", ...options };
}

/** One more place for each interval near the baseline; a cut when latencies leave it, or at an overload. */
export function latencyAimd(options: LatencyAimdOptions = {}): LimitSpec {
  return { kind: "latencyAimd", ...options };
}

/** A limit that learns. */
export interface ConcurrencyLimit {
  /** How many may be in flight now. */
  readonly limit: number;
  /** A call sent at `sentAt` was answered well at `now`, when `inFlight` were in flight, itself included. */
  sample(sentAt: number, now: number, inFlight: number): void;
  /** A call sent at `sentAt` met an overload, or timed out. */
  overloaded(sentAt: number, now: number): void;
}

const BOUNDS = ["kind", "initial", "min", "max", "cut"];
const KEYS = {
  aimd: BOUNDS,
  latencyAimd: [...BOUNDS, "intervalMs", "minSamples", "low", "high", "baselineMs"],
};

/** The limit that `spec` describes. `random` is uniform in [0, 1). */
export function concurrencyLimit(spec: LimitSpec, random: () => number, field = "limit"): ConcurrencyLimit {
  checkObject(field, spec);
  if (!("kind" in spec)) throw new OptionError(field, spec, "a number, aimd() or latencyAimd()");
  const kind = checkOneOf(`${field}.kind`, spec.kind, ["aimd", "latencyAimd"]);
  checkKeys(field, spec, KEYS[kind]);
  return kind === "aimd"
    ? new Aimd(spec as AimdOptions, field)
    : new LatencyAimd(spec as LatencyAimdOptions, random, field);
}

/** The limit itself, within its bounds. */
class Bounded {
  limit: number;
  readonly min: number;
  private readonly max: number;
  private readonly cut: number;
  private cutAt = -Infinity;

  constructor(options: LimitBoundsOptions & { readonly cut?: number }, cut: number, field: string) {
    const whole = (name: string, value: number, min: number, max = 1_000_000) =>
      checkNumber(`${field}.${name}`, value, { min, max, integer: true });
    this.min = whole("min", orDefault(options.min, 1), 1);
    this.max = whole("max", orDefault(options.max, Math.max(200, this.min)), this.min);
    const initial = orDefault(options.initial, Math.max(this.min, Math.min(20, this.max)));
    this.limit = whole("initial", initial, this.min, this.max);
    this.cut = checkNumber(`${field}.cut`, orDefault(options.cut, cut), { min: 0.1, max: 0.99 });
  }

  /** Whether a call sent then was sent under the present limit. */
  knows(sentAt: number): boolean {
    return sentAt >= this.cutAt;
  }

  grow(): void {
    if (this.limit < this.max) this.limit++;
  }

  shrink(now: number): void {
    this.cutAt = now;
    this.limit = Math.max(this.min, Math.min(this.limit - 1, Math.floor(this.limit * this.cut)));
  }
}

/** Whether enough of a limit is in use to prove anything. */
function inUse(inFlight: number, limit: number): boolean {
  return 2 * inFlight >= limit;
}

class Aimd implements ConcurrencyLimit {
  private readonly bounded: Bounded;
  /** Good answers since the limit last changed. */
  private good = 0;

  constructor(options: AimdOptions, field: string) {
    this.bounded = new Bounded(options, 0.9, field);
  }

  get limit(): number {
    return this.bounded.limit;
  }

  sample(sentAt: number, _now: number, inFlight: number): void {
    if (!this.bounded.knows(sentAt) || !inUse(inFlight, this.limit)) return;
    if (++this.good < this.limit) return;
    this.good = 0;
    this.bounded.grow();
  }

  overloaded(sentAt: number, now: number): void {
    if (!this.bounded.knows(sentAt)) return;
    this.good = 0;
    this.bounded.shrink(now);
  }
}

/** Intervals from one look at the baseline to the next, and as many again at random: callers must not look in step. */
const LOOK_EVERY = 50;

/**
 * A baseline that is only the least mean ever seen is never corrected when the dependency becomes slower for good; one
 * that forgets learns its own queue, and the limit creeps up without end. So it is looked at now and then: for one
 * interval the limit is halved, which leaves no queue, since the limit never stays above twice what is useful.
 */
class LatencyAimd implements ConcurrencyLimit {
  private readonly bounded: Bounded;
  private readonly random: () => number;
  private readonly intervalMs: number;
  private readonly minSamples: number;
  private readonly low: number;
  private readonly high: number;
  private readonly learns: boolean;
  private baseMs: number;
  private from = -Infinity;
  private sumMs = 0;
  private samples = 0;
  private most = 0;
  private pressed = false;
  /** Intervals until the next look. */
  private untilLook: number;
  /** The limit to go back to after a look; 0 while there is none. */
  private looking = 0;

  constructor(options: LatencyAimdOptions, random: () => number, field: string) {
    this.bounded = new Bounded(options, 0.8, field);
    this.random = random;
    const { intervalMs, minSamples, low, high, baselineMs } = options;
    this.intervalMs = checkMs(`${field}.intervalMs`, orDefault(intervalMs, 1_000), {
      min: 10,
      max: 3_600_000,
    });
    this.minSamples = checkNumber(`${field}.minSamples`, orDefault(minSamples, 20), {
      min: 1,
      max: 1_000_000,
      integer: true,
    });
    this.low = checkNumber(`${field}.low`, orDefault(low, 1.5), { min: 1, max: 100 });
    this.high = checkNumber(`${field}.high`, orDefault(high, Math.max(2, this.low)), { max: 1_000 });
    if (this.high < this.low) {
      throw new OptionError(`${field}.high`, this.high, `at least low, which is ${this.low}`);
    }
    this.learns = baselineMs === undefined;
    this.baseMs =
      baselineMs === undefined ? Infinity : checkMs(`${field}.baselineMs`, baselineMs, { above: 0 });
    this.untilLook = this.nextLook();
  }

  get limit(): number {
    return this.looking > 0 ? Math.max(this.bounded.min, Math.ceil(this.looking / 2)) : this.bounded.limit;
  }

  /** The latency without a queue, in ms; `Infinity` while it is not known. */
  get baselineMs(): number {
    return this.baseMs;
  }

  sample(sentAt: number, now: number, inFlight: number): void {
    this.advance(now);
    // What was sent before the interval waited in the queue of another limit.
    if (sentAt < this.from || !this.bounded.knows(sentAt)) return;
    this.sumMs += now - sentAt;
    this.samples++;
    this.most = Math.max(this.most, inFlight);
  }

  overloaded(sentAt: number, now: number): void {
    this.advance(now);
    if (this.bounded.knows(sentAt)) this.pressed = true;
  }

  /** Decides when an interval is over. A few latencies more may be waited for; a long silence decides nothing. */
  private advance(now: number): void {
    if (now - this.from < this.intervalMs) return;
    const enough = this.samples >= this.minSamples;
    if (!enough && !this.pressed && this.samples > 0 && now - this.from < 2 * this.intervalMs) return;
    if (enough || this.pressed) this.decide(enough ? this.sumMs / this.samples : null, now);
    this.from = now;
    this.sumMs = 0;
    this.samples = 0;
    this.most = 0;
    this.pressed = false;
  }

  private decide(meanMs: number | null, now: number): void {
    const looked = this.looking > 0;
    if (this.learns && meanMs !== null) this.baseMs = looked ? meanMs : Math.min(this.baseMs, meanMs);
    this.looking = 0;
    const ratio = meanMs === null ? 0 : meanMs / this.baseMs;
    if (this.pressed || ratio > this.high) this.bounded.shrink(now);
    else if (!looked && ratio < this.low && inUse(this.most, this.bounded.limit)) this.bounded.grow();
    if (!this.learns || --this.untilLook > 0) return;
    this.untilLook = this.nextLook();
    this.looking = this.bounded.limit;
  }

  private nextLook(): number {
    return LOOK_EVERY + Math.floor(this.random() * LOOK_EVERY);
  }
}
