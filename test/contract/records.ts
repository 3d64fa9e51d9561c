// What the fuzz itself knows of calls, works and guards: kept beside the kernel, never read from it.
import {
  type Admission,
  type Attempt,
  Bulkhead,
  type CallProcess,
  type Exit,
  type Rejected,
  type Room,
  type Wait,
} from "../../src/core/index.ts";
import type { CallSpec, WorkSpec } from "./program.ts";

/** One piece of work that was started. */
export class WorkRun {
  readonly call: CallRun;
  readonly attempt: Attempt;
  readonly spec: WorkSpec;
  readonly startedAt: number;
  readonly isFallback: boolean;
  /** Whether it is the first work of its call. */
  readonly isFirst: boolean;
  /** It has returned or thrown. */
  reported = false;
  /** Its body is still open. */
  holding = false;
  release: (() => void) | null = null;
  /** What it gave: a value or an error of its own. */
  readonly mark: { readonly work: string };
  /** It turned out never to have left. */
  unsent = false;
  /** It ended by itself with its attempt unanswered; set when it is judged. */
  judged: string | null = null;
  heardOfAnswer = false;
  /** Its listener was told that it is given up. */
  heardOfAbort = false;
  /** It listens; it may have ended before it could. */
  listening = false;

  constructor(call: CallRun, attempt: Attempt, spec: WorkSpec, startedAt: number, isFallback: boolean) {
    this.call = call;
    this.attempt = attempt;
    this.spec = spec;
    this.startedAt = startedAt;
    this.isFallback = isFallback;
    this.isFirst = !isFallback && call.works.length === 0;
    this.mark = { work: `${call.index}/${isFallback ? "f" : ""}${call.works.length}` };
  }

  /** Nothing of it is left in the process. */
  get over(): boolean {
    return this.reported && !this.holding;
  }
}

/** One call of the program. */
export class CallRun {
  readonly index: number;
  readonly spec: CallSpec;
  started = false;
  process: CallProcess | null = null;
  startedAt = 0;
  deadline = Infinity;
  /** The reason it was cancelled with, in a box; null when nobody cancelled it. */
  cancelled: { readonly reason: unknown } | null = null;
  /** To be cancelled as soon as its handle is known. */
  cancelPending = false;
  readonly answers: Exit[] = [];
  answeredEvents = 0;
  readonly works: WorkRun[] = [];
  readonly fallbackWorks: WorkRun[] = [];
  /** Refused by a guard; with one plain retry nothing may be sent after that. */
  refused = false;
  readonly siteCounts: Map<string, number> = new Map();

  constructor(index: number, spec: CallSpec) {
    this.index = index;
    this.spec = spec;
  }
}

/** A bulkhead that tells who takes, waits and leaves. Order and limit are judged from that alone. */
export class WatchedBulkhead extends Bulkhead {
  /** In order of arrival. Those that no longer wait here are dropped when somebody looks. */
  waiters: { readonly admission: Admission; readonly since: number }[] = [];
  readonly holders: Admission[] = [];
  readonly queued: WeakSet<Admission> = new WeakSet();
  report: (law: string, message: string) => void = () => {};

  override join(wait: Wait, now: number): Rejected | null {
    const { admission } = wait;
    const refusal = super.join(wait, now);
    if (refusal === null) {
      this.waiters.push({ admission, since: now });
      this.queued.add(admission);
    }
    return refusal;
  }

  override take(admission: Admission) {
    if (this.gate.held >= this.gate.limit)
      this.report("2", `${this.gate.held} held of ${this.gate.limit}, and one more`);
    for (const waiter of this.waiters) {
      if (waiter.admission === admission) break;
      if (this.#waits(waiter.admission)) this.report("5", "somebody passed a waiter");
    }
    this.holders.push(admission);
    return super.take(admission);
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
