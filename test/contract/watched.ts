// Guards that tell what they are asked and whom they let in. What is right is judged from that alone.
import {
  type Admission,
  type Admitter,
  type Asking,
  Bulkhead,
  type Permit,
  type Rejected,
  type Room,
  type Wait,
} from "../../src/core/index.ts";

type Report = (law: string, message: string) => void;

/** A bulkhead that tells who takes, waits and leaves. */
export class WatchedBulkhead extends Bulkhead {
  /** In order of arrival. Those that no longer wait here are dropped when somebody looks. */
  waiters: { readonly admission: Admission; readonly since: number }[] = [];
  readonly holders: Admission[] = [];
  readonly queued: WeakSet<Admission> = new WeakSet();
  /** The largest limit that it ever had. */
  peak = 0;
  /** What may be in flight, as the program has it. */
  mostBytes = Infinity;
  report: Report = () => {};

  override join(wait: Wait, now: number): Rejected | null {
    const { admission } = wait;
    const refusal = super.join(wait, now);
    if (refusal === null) {
      this.waiters.push({ admission, since: now });
      this.queued.add(admission);
    }
    return refusal;
  }

  override take(admission: Admission): Permit {
    const { held, limit } = this.gate;
    if (held >= limit) this.report("2", `${held} held of ${limit}, and one more`);
    if (this.inFlightBytes + admission.call.bytes > this.mostBytes)
      this.report("2", `${this.inFlightBytes} bytes held, and ${admission.call.bytes} more`);
    for (const waiter of this.waiters) {
      if (waiter.admission === admission) break;
      if (this.#waits(waiter.admission)) this.report("5", "somebody passed a waiter");
    }
    this.peak = Math.max(this.peak, limit);
    this.holders.push(admission);
    return super.take(admission);
  }

  override leave(wait: Wait): void {
    this.waiters = this.waiters.filter(({ admission }) => admission !== wait.admission);
    super.leave(wait);
  }

  /** Those that wait now. */
  look(): readonly { readonly admission: Admission; readonly since: number }[] {
    this.waiters = this.waiters.filter(({ admission }) => this.#waits(admission));
    return this.waiters;
  }

  #waits(admission: Admission): boolean {
    return admission.room === (this as Room);
  }
}

/** Hears what a guard says. */
export interface Hears {
  report: Report;
  took(admission: Admission, now: number): void;
  refused(asking: Asking, refusal: Rejected, now: number): void;
}

/** Stands in a guard's place in a run, and passes everything on. It asks twice: asking must change nothing. */
export class Spy implements Admitter {
  readonly machine: object;
  readonly refusedWithin?: (asking: Asking, now: number) => void;
  readonly hasRefused?: (asking: Asking, now: number) => void;
  readonly #inner: Admitter;
  readonly #hears: Hears;

  constructor(inner: Admitter, hears: Hears) {
    this.#inner = inner;
    this.#hears = hears;
    this.machine = inner.machine ?? inner;
    if (inner.refusedWithin !== undefined)
      this.refusedWithin = (asking, now) => inner.refusedWithin?.(asking, now);
    if (inner.hasRefused !== undefined) this.hasRefused = (asking, now) => inner.hasRefused?.(asking, now);
  }

  get name(): string {
    return this.#inner.name;
  }

  get mayRefuse(): boolean {
    return this.#inner.mayRefuse;
  }

  get timed(): boolean {
    return this.#inner.timed;
  }

  get queues(): boolean {
    return this.#inner.queues === true;
  }

  get reclaimAbandonedAfterMs(): number {
    return this.#inner.reclaimAbandonedAfterMs ?? Infinity;
  }

  check(asking: Asking, now: number): Rejected | Room | null {
    const { mayRefuse } = this;
    const answer = this.#inner.check(asking, now);
    const again = this.#inner.check(asking, now);
    if (again?.kind !== answer?.kind) this.#hears.report("7", `${this.name} was asked twice, and changed`);
    if (answer === null) return null;
    if (!mayRefuse) this.#hears.report("3", `${this.name} would not refuse, and did`);
    if (answer.kind === "rejected") this.#hears.refused(asking, answer, now);
    return answer;
  }

  take(admission: Admission, now: number): Permit {
    this.#hears.took(admission, now);
    return this.#inner.take(admission, now);
  }
}
