/**
 * The bulkhead: caps how many calls of one dependency this process has in flight, so that a slow dependency can sink
 * only its own compartment. Who finds it full waits in a bounded queue, or is refused at once.
 *
 * Freed places go to waiters in order, in the same step, and a newcomer never passes a waiter: whenever somebody
 * waits, every place is held.
 */
import type { Admitter, Asking, Permit } from "../admission.ts";
import { type Rejected, rejected } from "../call.ts";
import { OptionError } from "../errors.ts";
import { callEvent } from "../events.ts";
import { checkKeys, checkMs, orDefault } from "../options.ts";
import { AdmissionQueue, type QueueOptions } from "../queue/machine.ts";
import type { Room, Wait } from "../room.ts";
import { MAX_TIMER_MS, type Runtime } from "../runtime.ts";
import type { Guard } from "../stack.ts";
import { Gate } from "./machine.ts";

/** Options of `bulkhead`. */
export interface BulkheadOptions {
  /** Calls in flight at most, 1 to 1,000,000, whole. No default: it must be measured (rate × P99 × headroom). */
  readonly limit: number;
  /** Who may wait for a place. Default: nobody. */
  readonly queue?: QueueOptions;
  /**
   * Takes a place back this many ms, 1 to 2^31 − 1, or Infinity, after its call was given up although its work has not
   * ended. Default Infinity: work that never ends keeps its place for ever, because the resource behind it is in use
   * for ever.
   */
  readonly reclaimAbandonedAfterMs?: number;
}

function bytesOf({ admission }: Wait): number {
  return admission.call.bytes;
}

/** A cap on calls in flight. Pass one guard to several operations to share it. */
export class Bulkhead implements Admitter, Room, Permit {
  readonly name = "bulkhead";
  readonly timed = false;
  readonly kind = "room";
  readonly gate: Gate;
  readonly reclaimAbandonedAfterMs: number;
  readonly waitedTooLong: Rejected;
  private readonly runtime: Runtime;
  private readonly queue: AdmissionQueue<Wait>;
  private readonly full: Rejected;
  private calling: Asking | null = null;

  constructor(options: BulkheadOptions, runtime: Runtime, field = "bulkhead") {
    checkKeys(field, options, ["limit", "queue", "reclaimAbandonedAfterMs"]);
    this.gate = new Gate(options.limit, `${field}.limit`);
    this.queue = new AdmissionQueue(options.queue, `${field}.queue`, bytesOf);
    this.reclaimAbandonedAfterMs = checkMs(
      `${field}.reclaimAbandonedAfterMs`,
      orDefault(options.reclaimAbandonedAfterMs, Infinity),
      { min: 1, orInfinity: true },
    );
    this.runtime = runtime;
    this.full = rejected("bulkhead", this.queue.maxWaiting === 0 ? "full" : "queue full");
    this.waitedTooLong = rejected("bulkhead", "waited too long");
  }

  get queues(): boolean {
    return this.queue.maxWaiting > 0;
  }

  /** How many wait for a place. */
  get waiting(): number {
    return this.queue.size;
  }

  /** The bytes of those that wait. */
  get waitingBytes(): number {
    return this.queue.bytes;
  }

  get mayRefuse(): boolean {
    return !this.gate.free || this.queue.size > 0;
  }

  check(asking: Asking): Rejected | Room | null {
    if (this.gate.free && (this.queue.size === 0 || this.calling === asking)) return null;
    return this.queue.maxWaiting === 0 ? this.full : this;
  }

  take(): Permit {
    this.gate.take();
    return this;
  }

  settle(): void {}

  release(): void {
    this.gate.release();
    if (this.queue.size > 0) this.callWaiters();
  }

  join(wait: Wait, now: number): Rejected | null {
    if (!this.queue.join(wait, now)) return this.full;
    const { admission } = wait;
    const { call } = admission;
    const limitMs = Math.min(this.queue.maxWaitMs, call.deadline - now);
    if (limitMs <= MAX_TIMER_MS) this.runtime.arm(admission, now + limitMs);
    if (this.runtime.sink !== null) {
      const body = {
        type: "attempt.queued",
        attempt: admission.number,
        by: this.name,
        waiting: this.waiting,
      } as const;
      this.runtime.emit(callEvent(call, now, body));
    }
    return null;
  }

  leave(wait: Wait): void {
    this.queue.remove(wait);
  }

  /** Itself, for a stack of its own runtime: its waiters are called by that clock and from that loop. */
  of(runtime: Runtime): this {
    if (runtime === this.runtime) return this;
    throw new OptionError("bulkhead", this, "a bulkhead of the stack's own runtime");
  }

  /** Changes the limit; a higher one lets waiters in at once. */
  resize(limit: number): void {
    this.gate.limit = limit;
    const outermost = this.runtime.loop.enter();
    this.callWaiters();
    this.runtime.loop.leave(outermost);
  }

  private callWaiters(): void {
    const now = this.runtime.now();
    while (this.gate.free) {
      const next = this.queue.shift();
      if (next === null) break;
      this.calling = next.admission;
      next.admission.called(now);
    }
    this.calling = null;
  }
}

/** A bulkhead as a layer of a stack. Pass a bulkhead instead of options to share it. */
export function bulkhead(options: BulkheadOptions | Bulkhead, field = "bulkhead"): Guard {
  return {
    name: "bulkhead",
    bind: ({ runtime }) =>
      options instanceof Bulkhead ? options.of(runtime) : new Bulkhead(options, runtime, field),
  };
}
