/**
 * The bounds of a coalescing operation, and the failures that it remembers for a while.
 *
 * Many callers that ask the same at the same time need one answer. When a popular answer is missing (a cold cache, a
 * dependency that was away) they ask all at once, and each failure makes them ask again: so a failure may be shared for
 * a short time, too. Sources: the Basketly page, Part 10 (cold caches); the case files on values deleted by an error and
 * on clients that ask on every render.
 */
import type { Failed } from "../call.ts";
import { checkKeys, checkMs, checkNumber, orDefault } from "../options.ts";

/** Options of `coalesce`. */
export interface CoalesceOptions {
  /** Callers that may wait for one flight, 1 to 1,000,000, whole. Default 10,000 (our choice). */
  readonly maxWaiting?: number;
  /** Flights at once, 1 to 1,000,000, whole; calls beyond that are made by themselves. Default 10,000 (our choice). */
  readonly maxFlights?: number;
  /**
   * For how long a failure answers those who ask the same again, in ms, 0 to 60,000. Default 0: each asks anew (our
   * choice).
   */
  readonly shareFailuresMs?: number;
}

/** Failures by key, for a while; as many as there may be flights. */
export class CoalescePolicy {
  readonly maxWaiting: number;
  readonly maxFlights: number;
  private readonly shareFailuresMs: number;
  private readonly failures: Map<string, { readonly exit: Failed; readonly until: number }> = new Map();

  constructor(options: CoalesceOptions = {}, field = "coalesce") {
    checkKeys(field, options, ["maxWaiting", "maxFlights", "shareFailuresMs"]);
    const whole = (name: "maxWaiting" | "maxFlights") =>
      checkNumber(`${field}.${name}`, orDefault(options[name], 10_000), {
        min: 1,
        max: 1_000_000,
        integer: true,
      });
    this.maxWaiting = whole("maxWaiting");
    this.maxFlights = whole("maxFlights");
    this.shareFailuresMs = checkMs(`${field}.shareFailuresMs`, orDefault(options.shareFailuresMs, 0), {
      max: 60_000,
    });
  }

  /** A failure that is still to be shared, or null. */
  remembered(key: string, now: number): Failed | null {
    const found = this.failures.get(key);
    if (found === undefined) return null;
    if (now < found.until) return found.exit;
    this.failures.delete(key);
    return null;
  }

  /** A flight has failed. */
  remember(key: string, exit: Failed, now: number): void {
    if (this.shareFailuresMs === 0) return;
    this.failures.delete(key);
    // In the order in which they were put in: the first is the oldest.
    for (const [oldest, { until }] of this.failures) {
      if (until > now && this.failures.size < this.maxFlights) break;
      this.failures.delete(oldest);
    }
    this.failures.set(key, { exit, until: now + this.shareFailuresMs });
  }
}
