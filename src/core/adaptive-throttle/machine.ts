/**
 * The adaptive throttle: a caller that is being refused refuses a part of its own calls, before they are sent.
 *
 * A dependency in overload spends work even on saying no. Each caller keeps two counts over a window, what it wanted
 * to send (`requests`, with what it refused itself) and what was accepted, and refuses with probability
 *
 *     max(0, (requests − K × accepts) / (requests + 1))
 *
 * so that the dependency sees about K times what it accepts, whatever is wanted. Unlike a breaker it never stops
 * calls altogether (`maxRefused` is below 1): the rest is how it learns that things are better.
 *
 * Invariant: 0 ≤ accepts ≤ requests; nothing is refused while requests ≤ K × accepts.
 * Source: Google SRE book, "Handling Overload", client-side throttling (K = 2, two minutes).
 */
import { TimeWindow } from "../breaker/window.ts";
import { checkKeys, checkMs, checkNumber, checkOneOf, orDefault } from "../options.ts";

/** Options of `adaptiveThrottle`. */
export interface AdaptiveThrottleOptions {
  /** How many times what was accepted may be sent, 1 to 100. Lower refuses sooner. Default 2 (SRE book). */
  readonly k?: number;
  /** How far back it counts, in ms, 10 to 3,600,000, to within a tenth of it. Default 120,000 (SRE book). */
  readonly windowMs?: number;
  /** It never refuses a larger share than this, 0 to 0.99. Default 0.95 (our choice): one call in 20 is left to learn by. */
  readonly maxRefused?: number;
  /**
   * What counts as not accepted: "overload" (the dependency said so: 429, 503), or "failures" (also its other failures
   * and timeouts). Default "overload" (the table of evidence): a broken dependency is a breaker's business.
   */
  readonly rejects?: "overload" | "failures";
}

/** The counts and the next decision of one throttle. */
export class AdaptiveThrottle {
  readonly k: number;
  readonly maxRefused: number;
  readonly rejects: "overload" | "failures";
  /** Everything in it is a request; a "failure" in it is one that was not accepted. */
  private readonly window: TimeWindow;
  /** Decides on the next call, so that asking changes nothing. Uniform in [0, 1). */
  private draw: number;

  constructor(options: AdaptiveThrottleOptions, draw: number, field = "adaptiveThrottle") {
    checkKeys(field, options, ["k", "windowMs", "maxRefused", "rejects"]);
    this.k = checkNumber(`${field}.k`, orDefault(options.k, 2), { min: 1, max: 100 });
    this.maxRefused = checkNumber(`${field}.maxRefused`, orDefault(options.maxRefused, 0.95), { max: 0.99 });
    this.rejects = checkOneOf(`${field}.rejects`, orDefault(options.rejects, "overload"), [
      "overload",
      "failures",
    ]);
    this.window = new TimeWindow(
      checkMs(`${field}.windowMs`, orDefault(options.windowMs, 120_000), { min: 10, max: 3_600_000 }),
    );
    this.draw = draw;
  }

  /** What was wanted within the window. */
  requests(now: number): number {
    this.window.advance(now);
    return this.window.total;
  }

  /** What of it was accepted. */
  accepts(now: number): number {
    this.window.advance(now);
    return this.window.total - this.window.failures;
  }

  /** The share of calls that are refused at `now`, 0 to `maxRefused`. */
  refusedShare(now: number): number {
    const { window } = this;
    window.advance(now);
    const excess = window.total - this.k * (window.total - window.failures);
    return Math.min(this.maxRefused, Math.max(0, excess / (window.total + 1)));
  }

  /** Whether anything could be refused at present, without a look at the clock. */
  get mayRefuse(): boolean {
    return this.window.total > this.k * (this.window.total - this.window.failures);
  }

  /** Whether the next call is refused. The same answer until `decided`. */
  refuses(now: number): boolean {
    return this.draw < this.refusedShare(now);
  }

  /** The next call has been decided on; `draw` decides on the one after it. */
  decided(draw: number): void {
    this.draw = draw;
  }

  /** A call was accepted, or was not: by the dependency, or by this throttle. */
  record(accepted: boolean, now: number): void {
    this.window.add(!accepted, now);
  }
}
