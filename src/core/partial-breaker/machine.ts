/**
 * The partial breaker: opens as far as the dependency fails, instead of altogether.
 *
 * A breaker has a threshold: below it every failure is paid for, above it every good answer is given away. This one
 * refuses a share of the calls, and moves it once every `intervalMs` by what it saw in the last ten of those intervals:
 *
 *     excess = failure rate − usual failure rate        P = excess − (1 − excess) × share        share += P × (rise or fall)
 *
 * so it settles where share = excess ÷ (1 − excess): a tenth failing refuses a ninth, a third a half, and from a half on
 * nearly all. It rises faster than it falls, never refuses all (`maxRefused`: the rest are its probes), and keeps no
 * timer: the steps that are due are made up for when a call asks.
 *
 * Invariant: 0 ≤ share ≤ maxRefused; with no failures above the usual rate it falls to 0. Source: Semian's adaptive
 * breaker (Shopify/semian#760: this P, the defensiveness of 1 − excess); its integral part is left out, because it winds
 * up in health and is then late (#847, #899); the gains are ours.
 */
import { TimeWindow } from "../breaker/window.ts";
import { checkKeys, checkMs, checkNumber, orDefault } from "../options.ts";
import type { Share } from "../share.ts";

/** Options of `partialBreaker`. */
export interface PartialBreakerOptions {
  /** The share of failures that is usual, and refuses nothing; 0 to 0.5. Default 0.01 (Semian, before it has learnt). */
  readonly usualFailureRate?: number;
  /** How often the share moves, in ms, 1 to 360,000; failures are remembered for ten times as long. Default 1,000 (Semian). */
  readonly intervalMs?: number;
  /** How much of what is to be changed it rises by in an interval, above 0, at most 1. Default 0.5 (our choice). */
  readonly rise?: number;
  /** How much it falls by, above 0, at most 1. Default 0.1 (our choice): back within about half a minute. */
  readonly fall?: number;
  /** It never refuses a larger share than this, above 0, at most 0.999. Default 0.99 (our choice): one in 100 probes. */
  readonly maxRefused?: number;
}

/** Below this a share is none: a fall never quite ends by itself. */
const LEAST = 0.001;
/** More steps than this in a row change nothing any more. */
const MOST_STEPS = 1_000;

/** The share that is refused, and what moves it. */
export class PartialBreaker implements Share {
  readonly maxRefused: number;
  private readonly usual: number;
  private readonly intervalMs: number;
  private readonly rise: number;
  private readonly fall: number;
  private readonly window: TimeWindow;
  private share = 0;
  /** The interval up to which the share has been moved; −1 before the first call. */
  private interval = -1;
  private draw: number;

  constructor(options: PartialBreakerOptions, draw: number, field = "partialBreaker") {
    checkKeys(field, options, ["usualFailureRate", "intervalMs", "rise", "fall", "maxRefused"]);
    const part = (name: "rise" | "fall" | "maxRefused", byDefault: number, max: number): number =>
      checkNumber(`${field}.${name}`, orDefault(options[name], byDefault), { above: 0, max });
    this.usual = checkNumber(`${field}.usualFailureRate`, orDefault(options.usualFailureRate, 0.01), {
      max: 0.5,
    });
    this.intervalMs = checkMs(`${field}.intervalMs`, orDefault(options.intervalMs, 1_000), {
      min: 1,
      max: 360_000,
    });
    this.rise = part("rise", 0.5, 1);
    this.fall = part("fall", 0.1, 1);
    this.maxRefused = part("maxRefused", 0.99, 0.999);
    this.window = new TimeWindow(10 * this.intervalMs);
    this.draw = draw;
  }

  /** The share of calls that is refused at `now`, 0 to `maxRefused`. */
  refusedShare(now: number): number {
    this.advance(now);
    return this.share;
  }

  get mayRefuse(): boolean {
    return this.share > 0 || this.window.failures > 0;
  }

  refuses(now: number): boolean {
    return this.draw < this.refusedShare(now);
  }

  decided(draw: number): void {
    this.draw = draw;
  }

  /** A call that was let through has failed, or has not. */
  record(failed: boolean, now: number): void {
    this.advance(now);
    this.window.add(failed, now);
  }

  /** Makes the steps that are due. */
  private advance(now: number): void {
    const interval = Math.floor(now / this.intervalMs);
    if (this.interval < 0) this.interval = interval;
    const first = Math.max(this.interval + 1, interval - MOST_STEPS);
    for (let at = first; at <= interval; at++) this.step(at * this.intervalMs);
    if (interval > this.interval) this.interval = interval;
  }

  /** What was seen until the beginning of an interval decides on it. */
  private step(now: number): void {
    const { window } = this;
    window.advance(now - this.intervalMs);
    const excess = (window.total === 0 ? 0 : window.failures / window.total) - this.usual;
    const change = excess - (1 - excess) * this.share;
    const share = this.share + change * (change > 0 ? this.rise : this.fall);
    this.share = share < LEAST ? 0 : Math.min(this.maxRefused, share);
  }
}
