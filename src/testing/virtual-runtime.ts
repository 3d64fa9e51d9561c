/**
 * The virtual runtime: a clock that stands still until it is told to advance, and a seed instead of chance. It jumps
 * from event to event, so an hour of waiting costs nothing, and one seed gives one history, event by event.
 */

import { checkKeys, checkNumber, orDefault } from "../core/options.ts";
import { SeededRandom } from "../core/random.ts";
import { Runtime, type Timer } from "../core/runtime.ts";
import { TimerQueue } from "./timer-queue.ts";

/** Options of a virtual runtime. */
export interface VirtualRuntimeOptions {
  /** Seed of all randomness, a whole number from 0 to 2^32 − 1. Default 1. */
  readonly seed?: number;
  /** What the clock shows at first, in ms, 0 or more. Default 0. */
  readonly startAtMs?: number;
}

/** A runtime whose time is moved by hand. */
export class VirtualRuntime extends Runtime {
  override readonly random: SeededRandom;
  readonly seed: number;
  /** Timers fired so far. */
  fired = 0;
  readonly #timers: TimerQueue = new TimerQueue();
  #clock: number;
  #armed = 0;
  #advanced = false;
  readonly #thrown: unknown[] = [];

  constructor(options: VirtualRuntimeOptions = {}) {
    super();
    checkKeys("VirtualRuntime", options, ["seed", "startAtMs"]);
    const range = { max: 4_294_967_295, integer: true };
    this.seed = checkNumber("VirtualRuntime.seed", orDefault(options.seed, 1), range);
    this.random = new SeededRandom(this.seed);
    this.#clock = checkNumber("VirtualRuntime.startAtMs", orDefault(options.startAtMs, 0), {});
  }

  override now(): number {
    return this.#clock;
  }

  override arm(timer: Timer, dueAt: number): void {
    if (timer.position >= 0) this.#timers.remove(timer);
    timer.dueAt = dueAt;
    timer.sequence = ++this.#armed;
    this.#timers.push(timer, this.#clock);
  }

  override cancel(timer: Timer): void {
    if (timer.position >= 0) this.#timers.remove(timer);
  }

  override uncaught(error: unknown): void {
    this.#thrown.push(error);
  }

  /** How many timers are armed. */
  get pending(): number {
    return this.#timers.size;
  }

  /** When the next timer fires, or `Infinity`. */
  get nextAt(): number {
    return this.#timers.first?.dueAt ?? Infinity;
  }

  /**
   * Moves the clock `ms` forward and fires what falls due on the way, in order. Then throws the first error that a
   * listener or an answer threw meanwhile, if one did.
   */
  advance(ms: number): void {
    this.advanceTo(this.#clock + checkNumber("advance.ms", ms, {}));
  }

  /** Moves the clock forward to `at`. */
  advanceTo(at: number): void {
    checkNumber("advanceTo.at", at, {});
    this.#advanced = true;
    for (
      let timer = this.#timers.first;
      timer !== undefined && timer.dueAt <= at;
      timer = this.#timers.first
    ) {
      this.#fire(timer);
    }
    if (at > this.#clock) this.#clock = at;
    this.#rethrow();
  }

  /** Fires the next timer, with the clock moved to it. False if there is none. */
  step(): boolean {
    this.#advanced = true;
    const timer = this.#timers.first;
    if (timer === undefined) return false;
    this.#fire(timer);
    this.#rethrow();
    return true;
  }

  /** Fires timers until none is left. Throws after `limit` of them: something arms itself for ever. */
  runToIdle(limit = 1_000_000): void {
    for (let fired = 0; this.step(); fired++) {
      if (fired === limit) throw new Error(`still busy after ${limit} timers; seed ${this.seed}`);
    }
  }

  /**
   * What a test should hear about at its end: timers were armed and time was never moved, so whatever the test
   * waited for cannot have happened. Null when all is well.
   */
  get warning(): string | null {
    if (this.#armed === 0 || this.#advanced) return null;
    return "this test armed timers on a virtual clock and never moved it: call advance(ms)";
  }

  #fire(timer: Timer): void {
    this.#timers.remove(timer);
    if (timer.dueAt > this.#clock) this.#clock = timer.dueAt;
    this.fired++;
    const outermost = this.loop.enter();
    timer.fire();
    this.loop.leave(outermost);
  }

  #rethrow(): void {
    if (this.#thrown.length === 0) return;
    const [first] = this.#thrown;
    this.#thrown.length = 0;
    throw first;
  }
}
