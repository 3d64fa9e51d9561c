/**
 * Virtual time for code that awaits. The clock moves from timer to timer; before and after each the code is let come to
 * rest, so that what it arms next is seen before time moves on.
 *
 * At rest: one turn of the event loop has passed, which runs every promise callback and `nextTick` to the end, and no
 * `setImmediate` is queued. That is all that can be known. I/O is not waited for: time moves on past a reply that is on
 * its way. The code's own timers (`setTimeout`) stay real: `sleep` is their twin on this clock.
 */
import { checkMs } from "../../core/options.ts";
import { VirtualRuntime, type VirtualRuntimeOptions } from "../../testing/virtual-runtime.ts";
import { pause } from "./pause.ts";

/** Turns that code may keep queueing `setImmediate` before it counts as never at rest. */
const MAX_TURNS = 10_000;

/** Timers that may fire in one `run` before it counts as endless. */
const MAX_TIMERS = 1_000_000;

/** Taken before a test can replace it by a fake. */
const { setImmediate } = globalThis;

/** A virtual clock that async code can be run on. */
export class VirtualTime {
  /** Pass it on: `dependency(options, time.runtime)`. */
  readonly runtime: VirtualRuntime;
  private moving = false;

  constructor(options: VirtualRuntimeOptions = {}) {
    this.runtime = new VirtualRuntime(options);
  }

  /** What the clock shows, in ms. */
  now(): number {
    return this.runtime.now();
  }

  /**
   * Waits `ms` (0 to 2^31 − 1) on this clock, as work would. Given the attempt, or any other holder of a signal, it rejects with
   * the signal's reason when that fires.
   */
  async sleep(ms: number, attempt?: { readonly signal: AbortSignal }): Promise<void> {
    await pause(this.runtime, checkMs("sleep.ms", ms), attempt?.signal);
  }

  /** Lets the code run on until it waits for something; the clock stands still. Throws if it never comes to rest. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      if (!process.getActiveResourcesInfo().includes("Immediate")) return;
    }
    throw new Error(
      `not at rest after ${MAX_TURNS} turns of the event loop: setImmediate is queued for ever`,
    );
  }

  /** Moves the clock `ms` (0 to 2^31 − 1) forward, from timer to timer, and lets the code come to rest at each. */
  async advance(ms: number): Promise<void> {
    const until = this.now() + checkMs("advance.ms", ms);
    await this.move("advance", async () => {
      await this.settle();
      while (this.runtime.nextAt <= until) {
        this.runtime.step();
        await this.settle();
      }
      this.runtime.advanceTo(until);
    });
  }

  /**
   * Runs `code` to its end and moves the clock as far as it takes. Gives what it gives. Throws if it waits for
   * something that no timer of this clock brings about.
   */
  async run<T>(code: () => T | PromiseLike<T>): Promise<T> {
    return await this.move("run", async () => {
      let ended = false;
      const end = (): void => {
        ended = true;
      };
      const result = (async () => code())();
      result.then(end, end);
      await this.settle();
      for (let fired = 0; !ended; fired++) {
        if (fired === MAX_TIMERS) throw new Error(`still going on after ${MAX_TIMERS} timers`);
        if (!this.runtime.step()) throw new Error(stuck(this.now()));
        await this.settle();
      }
      return result;
    });
  }

  /** One mover at a time: two would each take the other's steps for the code's. */
  private async move<T>(name: string, mover: () => Promise<T>): Promise<T> {
    if (this.moving) throw new Error(`${name}() while the clock is being moved: await the one before it`);
    this.moving = true;
    try {
      return await mover();
    } finally {
      this.moving = false;
    }
  }
}

function stuck(at: number): string {
  return `nothing is armed at ${at} ms, and the code has not ended: it waits for I/O, a real timer, or nothing at all`;
}

/** Makes a virtual clock for a test of async code. One seed gives one run. */
export function virtualTime(options: VirtualRuntimeOptions = {}): VirtualTime {
  return new VirtualTime(options);
}
