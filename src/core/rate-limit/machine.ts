/**
 * The rate limit: how many calls may start per stretch of time, for quotas. What a dependency can bear *at once* is a
 * bulkhead's question: a rate goes on letting calls in when they have become slow.
 *
 * A token bucket, kept as the generic cell rate algorithm keeps it: not as tokens that drip in, which would need a
 * timer or a division a call, but as the one point in time at which the bucket will be full again. A call of cost `c`
 * moves that point `c` intervals ahead, and may do so as long as it stays within a burst of now. One number, no timer,
 * and the hint to the caller is exact.
 *
 * Invariant: in every stretch of T ms at most `burst + T × limit / windowMs` is admitted.
 * Sources: ITU-T I.371 (GCRA); the Basketly page, Part 12; the case files on clocks that step and on 30-day windows.
 */
import { checkKeys, checkMs, checkNumber, orDefault } from "../options.ts";

/** The rate of a limit. */
export interface RateOptions {
  /** What may start in `windowMs`, in calls or in cost; above 0, at most 1,000,000,000. No default: it is a contract. */
  readonly limit: number;
  /** The stretch of time that `limit` is for, in ms, 1 to 1,000,000,000,000 (31 years). Default 1,000 (a second). */
  readonly windowMs?: number;
  /**
   * What may start at the same instant after a rest, in calls or in cost; above 0, at most 1,000,000,000. Default:
   * `limit` (a whole window's worth), as quotas are mostly meant.
   */
  readonly burst?: number;
}

/** Differences below this are rounding: a millionth of a ms. */
const ROUNDING_MS = 1e-6;

/** A bucket of tokens, as the time at which it will be full. */
export class TokenBucket {
  readonly burst: number;
  /** How long one token takes to come back. */
  readonly intervalMs: number;
  private fullAt = 0;

  constructor(options: RateOptions, field = "rateLimit") {
    checkKeys(field, options, ["limit", "windowMs", "burst"]);
    const limit = checkNumber(`${field}.limit`, options.limit, { above: 0, max: 1e9 });
    const windowMs = checkMs(`${field}.windowMs`, orDefault(options.windowMs, 1_000), { min: 1, max: 1e12 });
    this.burst = checkNumber(`${field}.burst`, orDefault(options.burst, limit), { above: 0, max: 1e9 });
    this.intervalMs = windowMs / limit;
  }

  /** Tokens in the bucket at `now`, 0 to `burst`. */
  level(now: number): number {
    return this.burst - Math.max(0, this.fullAt - now) / this.intervalMs;
  }

  /** Ms from `now` until `cost` can be taken: 0 if at once, `Infinity` if it is more than a full bucket. */
  waitMs(cost: number, now: number): number {
    if (cost > this.burst) return Infinity;
    const fullAt = Math.max(this.fullAt, now) + cost * this.intervalMs;
    const waitMs = fullAt - now - this.burst * this.intervalMs;
    return waitMs > ROUNDING_MS ? waitMs : 0;
  }

  /** Takes `cost`, after `waitMs` said 0 at the same `now`. */
  take(cost: number, now: number): void {
    this.fullAt = Math.max(this.fullAt, now) + cost * this.intervalMs;
  }
}
