/** Where the models set timers. */
import { type Runtime, Timer } from "../core/runtime.ts";

/** Fires `timer` in `delayMs`. */
export function wake(runtime: Runtime, timer: Timer, delayMs: number): void {
  runtime.arm(timer, runtime.now() + delayMs);
}

/** What acts again and again, at times of its own. */
export interface Ticking {
  tick(): void;
}

/**
 * The timer of whatever ticks. They share one class because V8 compiles the clock for at most four classes of timers:
 * this, attempts, repeats and handlers. With a fifth, every access to a timer is a search.
 */
export class Ticker extends Timer {
  private readonly runtime: Runtime;
  private readonly owner: Ticking;

  constructor(runtime: Runtime, owner: Ticking) {
    super();
    this.runtime = runtime;
    this.owner = owner;
  }

  /** Ticks once, in `delayMs`. */
  start(delayMs: number): void {
    wake(this.runtime, this, delayMs);
  }

  stop(): void {
    this.runtime.cancel(this);
  }

  override fire(): void {
    this.owner.tick();
  }
}
