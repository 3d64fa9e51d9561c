/**
 * The bulkhead: caps how many calls of one dependency this process has in flight, so that a slow dependency can sink
 * only its own compartment. Who finds it full waits in a bounded queue, or is refused at once.
 *
 * Freed places go to waiters in order, in the same step, and a newcomer never passes a waiter: whenever somebody
 * waits, every place is held, or the bytes in flight leave no room for the first of them.
 */
import type { Admission } from "../admission.ts";
import type { Admitter, Asking, Holds, Permit } from "../admitter.ts";
import { type Rejected, rejected } from "../call.ts";
import { type ConcurrencyLimit, concurrencyLimit, type LimitSpec } from "../concurrency-limit/machine.ts";
import { OptionError } from "../errors.ts";
import { callEvent } from "../events.ts";
import type { Evidence } from "../evidence.ts";
import { checkKeys, checkMs, checkNumber, checkOneOf, orDefault } from "../options.ts";
import { AdmissionQueue, type QueueOptions } from "../queue/machine.ts";
import type { Room, Wait } from "../room.ts";
import { MAX_TIMER_MS, type Runtime } from "../runtime.ts";
import type { Guard } from "../stack.ts";
import { Gate, type GateState } from "./machine.ts";

/** Options of `bulkhead`. */
export interface BulkheadOptions {
  /**
   * Calls in flight at most, 1 to 1,000,000, whole; or a limit that learns, `aimd()` or `latencyAimd()`. No default: it
   * must be measured (rate × P99 × headroom).
   */
  readonly limit: number | LimitSpec;
  /**
   * Bytes in flight at most, in the calls' own word (`bytes`), 0 or more, or Infinity. Default Infinity. Who is
   * larger than that by itself is refused.
   */
  readonly maxBytes?: number;
  /** Who may wait for a place. Default: nobody. */
  readonly queue?: QueueOptions;
  /**
   * Takes a place back this many ms, 1 to 2^31 − 1, or Infinity, after its call was given up although its work has not
   * ended. Default Infinity: work that never ends keeps its place for ever, because the resource behind it is in use
   * for ever.
   */
  readonly reclaimAbandonedAfterMs?: number;
  /**
   * Which work a place follows: "subtree", the attempt's own and that of every call made with it as `parent`, or
   * "handler", the attempt's own alone. Default "subtree": a call that goes on within it is its load, too.
   */
  readonly holds?: Holds;
}

function bytesOf({ admission }: Wait): number {
  return admission.call.bytes;
}

const TOO_LARGE: Rejected = rejected("bulkhead", "larger than all places together");

/** A cap on calls in flight. Pass one guard to several operations to share it. */
export class Bulkhead implements Admitter, Room, Permit {
  readonly name = "bulkhead";
  readonly timed = false;
  readonly kind = "room";
  /** The places, to look at; `resize` changes their number. */
  readonly gate: GateState;
  readonly reclaimAbandonedAfterMs: number;
  readonly holds: Holds;
  readonly waitedTooLong: Rejected;
  private readonly runtime: Runtime;
  private readonly queue: AdmissionQueue<Wait>;
  private readonly full: Rejected;
  /** What the limit learns from, or null where it is fixed. */
  private readonly learning: ConcurrencyLimit | null;
  private readonly places: Gate;
  private readonly maxBytes: number;
  private heldBytes = 0;
  private calling: Asking | null = null;

  constructor(options: BulkheadOptions, runtime: Runtime, field = "bulkhead") {
    checkKeys(field, options, ["limit", "maxBytes", "queue", "reclaimAbandonedAfterMs", "holds"]);
    const { limit, maxBytes } = options;
    this.learning =
      typeof limit === "object" && limit !== null ? learningLimit(limit, runtime, `${field}.limit`) : null;
    this.places = new Gate(
      this.learning === null ? (limit as number) : this.learning.limit,
      `${field}.limit`,
    );
    this.gate = this.places;
    this.maxBytes = checkNumber(`${field}.maxBytes`, orDefault(maxBytes, Infinity), { orInfinity: true });
    this.queue = new AdmissionQueue(options.queue, `${field}.queue`, bytesOf);
    this.reclaimAbandonedAfterMs = checkMs(
      `${field}.reclaimAbandonedAfterMs`,
      orDefault(options.reclaimAbandonedAfterMs, Infinity),
      { min: 1, orInfinity: true },
    );
    this.holds = checkOneOf(`${field}.holds`, orDefault(options.holds, "subtree"), ["subtree", "handler"]);
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

  /** The bytes of the calls in flight. */
  get inFlightBytes(): number {
    return this.heldBytes;
  }

  get mayRefuse(): boolean {
    return !this.places.free || this.queue.size > 0 || this.maxBytes < Infinity;
  }

  check(asking: Asking): Rejected | Room | null {
    const { bytes } = asking.call;
    if (bytes > this.maxBytes) return TOO_LARGE;
    const fits = this.places.free && this.heldBytes + bytes <= this.maxBytes;
    if (fits && (this.queue.size === 0 || this.calling === asking)) return null;
    return this.queue.maxWaiting === 0 ? this.full : this;
  }

  take({ call }: Admission): Permit {
    this.places.take();
    if (this.maxBytes === Infinity || call.bytes === 0) return this;
    this.heldBytes += call.bytes;
    return new Bytes(this, call.bytes);
  }

  settle(evidence: Evidence, admission: Admission): void {
    if (this.learning !== null) this.learn(this.learning, evidence, admission);
  }

  release(): void {
    this.places.release();
    if (this.queue.size > 0) this.callWaiters();
  }

  /** The same for one that held bytes, too. */
  releaseWith(bytes: number): void {
    this.heldBytes -= bytes;
    this.release();
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
    // Only bytes can keep waiters waiting while a place is free: the next one may be smaller.
    if (this.maxBytes < Infinity) this.callWaiters();
  }

  /** Itself, for a stack of its own runtime: its waiters are called by that clock and from that loop. */
  of(runtime: Runtime): this {
    if (runtime === this.runtime) return this;
    throw new OptionError("bulkhead", this, "a bulkhead of the stack's own runtime");
  }

  /** Changes the limit; a higher one lets waiters in at once. Throws an `OptionError` where the limit learns. */
  resize(limit: number): void {
    if (this.learning !== null)
      throw new OptionError("limit", limit, "nothing here, where the limit is learnt");
    this.places.resize(limit);
    const outermost = this.runtime.loop.enter();
    this.callWaiters();
    this.runtime.loop.leave(outermost);
  }

  private learn(learning: ConcurrencyLimit, { concurrencyLimit }: Evidence, { sentAt }: Admission): void {
    if (concurrencyLimit === "ignored" || sentAt < 0) return;
    const now = this.runtime.now();
    if (concurrencyLimit === "sample") learning.sample(sentAt, now, this.places.held);
    else learning.overloaded(sentAt, now);
    if (learning.limit === this.places.limit) return;
    this.places.resize(learning.limit);
    if (this.queue.size > 0) this.callWaiters();
  }

  private callWaiters(): void {
    const now = this.runtime.now();
    while (this.places.free) {
      const front = this.queue.first;
      if (front === null || this.heldBytes + front.admission.call.bytes > this.maxBytes) break;
      const next = this.queue.shift() as Wait;
      this.calling = next.admission;
      next.admission.called(now);
    }
    this.calling = null;
  }
}

/** The permit of a call that has bytes in flight. */
class Bytes implements Permit {
  readonly reclaimAbandonedAfterMs: number;
  readonly holds: Holds;
  private readonly bulkhead: Bulkhead;
  private readonly bytes: number;

  constructor(bulkhead: Bulkhead, bytes: number) {
    this.bulkhead = bulkhead;
    this.bytes = bytes;
    this.reclaimAbandonedAfterMs = bulkhead.reclaimAbandonedAfterMs;
    this.holds = bulkhead.holds;
  }

  settle(evidence: Evidence, admission: Admission): void {
    this.bulkhead.settle(evidence, admission);
  }

  release(): void {
    this.bulkhead.releaseWith(this.bytes);
  }
}

function learningLimit(spec: LimitSpec, runtime: Runtime, field: string): ConcurrencyLimit {
  const random = runtime.random.fork(`limit ${field}`);
  return concurrencyLimit(spec, () => random.next(), field);
}

/** A bulkhead as a layer of a stack. Pass a bulkhead instead of options to share it. */
export function bulkhead(options: BulkheadOptions | Bulkhead, field = "bulkhead"): Guard {
  return {
    name: "bulkhead",
    bind: ({ runtime }) =>
      options instanceof Bulkhead ? options.of(runtime) : new Bulkhead(options, runtime, field),
  };
}
