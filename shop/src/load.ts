/**
 * An open-loop load: actions arrive at random (Poisson) whatever becomes of earlier ones, and a latency counts from
 * the *scheduled* arrival, so a generator that falls behind makes its results worse, not better. How far behind it
 * was is kept.
 */
import { SeededRandom } from "plimsoll";
import type { Seconds } from "./seconds.ts";

/** One thing that users do, and how it ends: under which name it counts, and what else is to be counted. */
export interface Action {
  readonly name: string;
  readonly perSecond: number;
  perform(): Promise<Ended>;
}

/** How an action ended. */
export interface Ended {
  /** The count that it adds to, in the second of its arrival. */
  readonly as: string;
  readonly answered: boolean;
}

/** A stretch of load, from one second to another. */
export class Load {
  /** Seconds late at each start. */
  readonly lags: number[] = [];
  /** Seconds that answered actions took, by second of arrival. */
  readonly latencies: Map<number, number[]> = new Map();
  readonly #seconds: Seconds;
  readonly #arrivals: Arrivals[];
  #untilS: number;
  #pending = 0;

  constructor(actions: readonly Action[], seed: number, seconds: Seconds, fromS: number, untilS: number) {
    this.#seconds = seconds;
    this.#arrivals = actions.map((action) => new Arrivals(action, seed, fromS));
    this.#untilS = untilS;
    this.#launch();
  }

  /** Nothing more arrives. */
  stop(): void {
    this.#untilS = this.#seconds.now;
  }

  /** Waits until everything has arrived and been answered, `graceMs` after the last arrival at most. */
  async ended(graceMs: number): Promise<void> {
    const end = this.#seconds.msAt(this.#untilS) + graceMs;
    while ((this.#seconds.now < this.#untilS || this.#pending > 0) && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Starts what is due, and comes back for what is next. */
  #launch(): void {
    const { now } = this.#seconds;
    for (const arrivals of this.#arrivals) {
      for (let at = arrivals.due(now, this.#untilS); at !== null; at = arrivals.due(now, this.#untilS)) {
        this.lags.push(now - at);
        void this.#start(arrivals.action, at);
      }
    }
    if (now < this.#untilS) setTimeout(() => this.#launch(), 1);
  }

  async #start(action: Action, arrivedAt: number): Promise<void> {
    const second = Math.floor(arrivedAt);
    this.#seconds.add("offered", 1, second);
    this.#pending++;
    const { as, answered } = await action.perform();
    this.#pending--;
    this.#seconds.add(as, 1, second);
    if (!answered) return;
    const latencies = this.latencies.get(second) ?? [];
    latencies.push(this.#seconds.now - arrivedAt);
    this.latencies.set(second, latencies);
  }
}

/** When an action arrives. */
class Arrivals {
  readonly action: Action;
  readonly #random: SeededRandom;
  #nextAt: number;

  constructor(action: Action, seed: number, fromS: number) {
    this.action = action;
    this.#random = new SeededRandom(seed).fork(`arrivals ${action.name}`);
    this.#nextAt = fromS + this.#gap();
  }

  /** The next arrival at or before `now` and before `until`, or null. */
  due(now: number, until: number): number | null {
    const at = this.#nextAt;
    if (at > now || at >= until) return null;
    this.#nextAt = at + this.#gap();
    return at;
  }

  #gap(): number {
    return -Math.log(1 - this.#random.next()) / this.action.perSecond;
  }
}
