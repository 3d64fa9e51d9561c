/**
 * The real runtime: Node's monotonic clock, and one timer of Node's for all of ours.
 *
 * Timers stay in a list for the turn of the event loop in which they are armed (most are cancelled in it), then hang
 * in a wheel of 1 ms slots; arming and cancelling are constant time and allocate nothing. One Node timer is set for
 * the earliest slot that may be due. Node fires up to 1 ms early by the monotonic clock, so due times are rounded up
 * and whatever is not due yet is waited for again: never early, at most about 1 ms late on an idle loop. When nothing
 * is armed any more, nothing keeps the process alive.
 */
import { AsyncResource } from "node:async_hooks";
import { performance } from "node:perf_hooks";
import type { Random } from "../core/random.ts";
import { hash32, SeededRandom } from "../core/random.ts";
import { type Context, MAX_TIMER_MS, Runtime, type Timer } from "../core/runtime.ts";
import { TimerWheel } from "./timer-wheel.ts";
import { YOUNG, YoungTimers } from "./young-timers.ts";

/** Node's own randomness. Forks are independent because every draw is. */
class SystemRandom implements Random {
  next(): number {
    return Math.random();
  }

  fork(): Random {
    return this;
  }
}

/** Options of a real runtime. */
export interface NodeRuntimeOptions {
  /** Makes jitter and probing repeatable; timing stays real. Default: Node's own randomness. */
  readonly seed?: number;
}

/** Node's clock and timers. One per process is enough; `nodeRuntime` is the one that is used by default. */
export class NodeRuntime extends Runtime {
  override readonly random: Random;
  private readonly young: YoungTimers = new YoungTimers();
  private readonly wheel: TimerWheel = new TimerWheel(0);
  private timer: NodeJS.Timeout | null = null;
  /** When the Node timer fires; Infinity when it is not set, -Infinity when none must be: what is due fires soon. */
  private wakeAt = Infinity;
  /** Whether the end of the turn is waited for. */
  private turning = false;
  private readonly wake = (): void => this.woken();
  private readonly fireLate = (): void => this.fireDue();
  private readonly turn = (): void => this.endTurn();

  constructor(options: NodeRuntimeOptions = {}) {
    super();
    this.random =
      options.seed === undefined ? new SystemRandom() : new SeededRandom(hash32("node", options.seed));
  }

  override now(): number {
    return performance.now();
  }

  override arm(timer: Timer, dueAt: number): void {
    if (timer.position >= 0) this.cancel(timer);
    timer.dueAt = Math.ceil(dueAt);
    this.young.add(timer);
    if (!this.turning) this.waitForTurn();
  }

  override cancel(timer: Timer): void {
    if (timer.position === YOUNG) this.young.remove(timer);
    else if (timer.position >= 0) {
      this.wheel.remove(timer);
      if (this.wheel.size === 0 && !this.turning) this.waitForTurn();
    }
  }

  override context(): Context | null {
    return new AsyncResource("PLIMSOLL", UNTRACKED);
  }

  /** Lets it surface as any error thrown by a callback does, once the kernel is consistent again. */
  override uncaught(error: unknown): void {
    setImmediate(() => {
      throw error;
    });
  }

  /** How many timers are armed. */
  get pending(): number {
    return this.young.size + this.wheel.size;
  }

  private waitForTurn(): void {
    this.turning = true;
    setImmediate(this.turn);
  }

  /** The turn is over: what is still armed goes to the wheel, and the Node timer is set, kept or let go. */
  private endTurn(): void {
    this.turning = false;
    let next = Infinity;
    for (const timer of this.young.takeAll()) {
      this.wheel.add(timer);
      if (timer.dueAt < next) next = timer.dueAt;
    }
    if (next < this.wakeAt) this.setWake(next);
    else if (this.wheel.size > 0) this.timer?.ref();
    else this.timer?.unref();
  }

  private setWake(at: number): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.wakeAt = at;
    const delayMs = Math.min(MAX_TIMER_MS, Math.max(1, at - performance.now()));
    this.timer = NOBODY.runInAsyncScope(() => setTimeout(this.wake, delayMs));
  }

  private woken(): void {
    const late = performance.now() - this.wakeAt > LATE_MS;
    this.timer = null;
    this.wakeAt = -Infinity;
    if (late) setImmediate(this.fireLate);
    else this.fireDue();
  }

  private fireDue(): void {
    this.wakeAt = Infinity;
    const now = Math.floor(performance.now());
    for (let timer = this.wheel.shiftDue(now); timer !== null; timer = this.wheel.shiftDue(now)) {
      const outermost = this.loop.enter();
      timer.fire();
      this.loop.leave(outermost);
    }
    const next = this.wheel.nextAt();
    if (next < this.wakeAt) this.setWake(next);
  }
}

/**
 * Later than this, in ms, the process itself has stood still (our choice: well above the 1 ms of an idle loop). What
 * came in meanwhile is read first: Node fires timers before it reads, and answers that are there would be taken for
 * timeouts, a dozen at once, and open a breaker for a dependency that is well.
 */
const LATE_MS = 5;

/** Nobody needs to hear that a caller's context is gone. */
const UNTRACKED = { requireManualDestroy: true };

/**
 * The async context of nobody. One Node timer serves every call: set in the context of the call that happened to need
 * it first, it would show that caller's request to all the others' listeners, and keep it alive.
 */
const NOBODY = new AsyncResource("PLIMSOLL", UNTRACKED);

/** The process's own runtime. */
export const nodeRuntime: NodeRuntime = new NodeRuntime();
