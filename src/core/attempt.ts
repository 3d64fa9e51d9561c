/**
 * One send. The only place where *answered* and *ended* meet.
 *
 * Answered: a result, a timeout or a cancel has been reported and the evidence is settled. Ended: this process holds
 * nothing of it any more (no promise, socket or body), so its places are free. An attempt that was answered by
 * anything but its own end is *abandoned* until it ends: it keeps its places, and it is counted.
 *
 * The attempt is its own timer, first of its wait, then of its work; and it makes an AbortSignal only when the work
 * reads one, because a used AbortController costs more than all guards together.
 */
import type { Abort, AbortTarget } from "./abort.ts";
import { EXPIRED, type Plan } from "./admission.ts";
import { tellAbandoned, tellAnswered, tellEnded, tellSent } from "./attempt-events.ts";
import { type Exit, type Failed, failed, type Outcome, ok, type Rejected, rejected } from "./call.ts";
import { classify, understood } from "./classify.ts";
import { evidenceOf } from "./evidence.ts";
import type { Leaf, Result } from "./leaf.ts";
import type { Task } from "./loop.ts";
import type { Process } from "./progress.ts";
import type { Run } from "./run.ts";
import { type Context, MAX_TIMER_MS, type Runtime } from "./runtime.ts";
import { TimedOut } from "./timed-out.ts";
import { type AttemptState, WorkView } from "./work-view.ts";

const TOO_LITTLE_TIME: Rejected = rejected("deadline", "too little time left");

/** One attempt of a call. The work receives it; what it may do with it is in `work-view.ts`. */
export class Attempt extends WorkView implements Task {
  override readonly leaf: Leaf;
  override state: AttemptState = "new";
  protected override maker: Process | null;
  private readonly work: unknown;
  private workEnded = false;
  /** Why it was given up while something of it was alive; null if it was not. */
  protected override abandonedFor: Exit | null = null;
  protected override abort: Abort | AbortTarget | null = null;

  constructor(runtime: Runtime, leaf: Leaf, plan: Plan, maker: Process, work: unknown) {
    super(runtime, plan);
    this.leaf = leaf;
    this.maker = maker;
    this.work = work;
  }

  protected override get guards(): Run {
    return this.leaf.run;
  }

  protected override get usualTimeoutMs(): number {
    return this.leaf.attemptTimeoutMs;
  }

  /** The caller's async context, in which the work starts after a wait. */
  get context(): Context | null {
    return this.maker === null ? null : this.maker.root.caller;
  }

  /** Asks for places and starts. Called from the loop. */
  begin(now: number = this.runtime.now()): void {
    if (this.call.deadline - now > this.leaf.minUsefulMs) this.ask(now);
    else this.beginLate(now);
  }

  private beginLate(now: number): void {
    const late = this.tooLate(now);
    if (late === null) this.ask(now);
    else this.refused(late);
  }

  protected override tooLate(now: number): Rejected | null {
    const left = this.call.deadline - now;
    if (left <= 0) return EXPIRED;
    return left < this.leaf.minUsefulMs ? TOO_LITTLE_TIME : null;
  }

  /** The work has returned. Only the first end counts. */
  succeed(value: unknown): void {
    if (this.leaf.judge === null) this.workDone(ok(value));
    else this.judged({ value });
  }

  /** The work has thrown; `exhausted` if a call within it has tried again. Only the first end counts. */
  fail(error: unknown, exhausted = false): void {
    this.judged({ error }, exhausted);
  }

  /** Gives the attempt up. Its maker hears of it, and so the call is cancelled, unless that has ended already. */
  cancel(reason: unknown): void {
    if (this.maker !== null && this.maker.exit !== null) this.maker = null;
    if (this.state === "answered" || this.state === "ended") return;
    const outermost = this.runtime.loop.enter();
    this.stopWaiting();
    this.report({ kind: "cancelled", reason });
    this.runtime.loop.leave(outermost);
  }

  /** Starts the work after a wait. Called by the loop. */
  run(): void {
    if (this.state !== "admitted") return;
    const now = this.runtime.now();
    const late = this.tooLate(now);
    if (late === null) this.send(now);
    else this.refused(late);
  }

  /** Its time is over. Called by the runtime. */
  override fire(): void {
    if (this.state === "waiting") this.waitEnded();
    else if (this.state === "sent") this.timedOut();
    else if (this.state === "answered") this.overdue();
  }

  protected override admitted(now: number): void {
    this.send(now);
  }

  protected override ready(): void {
    this.state = "admitted";
    this.runtime.loop.push(this);
  }

  protected override waits(): void {
    this.state = "waiting";
    if (this.maker !== null) this.maker.root.keepContext();
  }

  protected override refused(exit: Rejected | Failed): void {
    this.report(exit);
  }

  private send(now: number): void {
    const { leaf, runtime } = this;
    const limit = Math.min(this.timeoutMs, this.call.deadline - now);
    this.state = "sent";
    this.sentAt = now;
    this.begun();
    // Only a deadline can be further away than the longest timer (24 days): nobody waits for it that long.
    if (limit <= MAX_TIMER_MS) runtime.arm(this, now + limit);
    if (this.token !== null) this.token.sent(now);
    else if (leaf.budget !== null) leaf.budget.firstSent(now);
    if (runtime.sink !== null) this.countSent(limit);
    try {
      leaf.perform(this, this.work);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Lets the judge speak first: it may be the user's, may throw, and may cancel this very call. */
  private judged(result: Result, exhausted = false): void {
    if (this.state !== "sent" || this.workEnded) return this.workDone(null);
    const outermost = this.runtime.loop.enter();
    const outcome = this.judge(result);
    this.workDone(exhausted && outcome.kind === "failed" ? { ...outcome, exhausted } : outcome);
    this.runtime.loop.leave(outermost);
  }

  private judge(result: Result): Outcome {
    const { judge } = this.leaf;
    if (judge === null) return classify(result);
    try {
      return understood(judge(result, this)) ?? classify(result);
    } catch (error) {
      return failed(error, "permanent");
    }
  }

  /** The work has ended; `outcome` matters if nobody has answered for it yet. */
  private workDone(outcome: Outcome | null): void {
    if (this.workEnded || this.live === 0) return;
    this.workEnded = true;
    const outermost = this.runtime.loop.enter();
    if (outcome === null || this.state !== "sent") this.endOne();
    else {
      this.live--;
      this.report(outcome);
    }
    this.runtime.loop.leave(outermost);
  }

  private timedOut(): void {
    const untilDeadline = this.call.deadline - this.sentAt;
    const clipped = untilDeadline < this.timeoutMs;
    const limitMs = clipped ? untilDeadline : this.timeoutMs;
    this.report(new TimedOut(this.call, limitMs, clipped));
  }

  /** Answered but not ended in time: a body that nobody finishes is given up, and abandoned places are reclaimed. */
  private overdue(): void {
    if (this.abandonedFor === null) {
      const { call, deadline, sentAt } = this;
      this.abandon(new TimedOut(call, deadline - sentAt, call.deadline <= deadline));
    } else {
      this.reclaim();
      tellEnded(this, true);
    }
  }

  /**
   * Settles the evidence, gives the places back if nothing is left alive, and reports, in this order. What is still
   * alive goes on: welcome after `ok` (a body), abandoned otherwise.
   */
  private report(exit: Exit): void {
    const sent = this.state === "sent";
    const maker = this.maker;
    this.state = "answered";
    this.maker = null;
    if (!sent && this.token !== null) this.token.cancel();
    const evidence = evidenceOf(exit);
    this.settle(evidence);
    if (sent && this.leaf.budget !== null) this.leaf.budget.settled(exit, this.token);
    if (this.runtime.sink !== null) tellAnswered(this, exit, evidence.ending, sent);
    if (this.live === 0) this.ended();
    else this.goesOn(exit);
    if (maker !== null) maker.answered(this, exit);
  }

  private goesOn(exit: Exit): void {
    if (this.live === this.nested) this.ownEnded();
    if (exit.kind !== "ok") this.abandon(exit);
  }

  protected override ownEnded(): void {
    const dueMs = this.reclaimMs;
    super.ownEnded();
    if (this.abandonedFor !== null && dueMs < Infinity) this.reclaimNext(dueMs);
  }

  private countSent(limit: number): void {
    if (this.maker !== null && this.kind !== "fallback") this.maker.root.countSent();
    tellSent(this, limit);
  }

  /** Gives up what is still alive. */
  private abandon(because: Exit): void {
    this.runtime.cancel(this);
    this.abandonedFor = because;
    this.leaf.abandoned++;
    tellAbandoned(this);
    if (this.leaf.reclaimAbandonedAfterMs < Infinity) this.reclaimLater();
    if (this.abort !== null) this.abort.fire(because);
  }

  /** Nothing of it is left in this process. */
  protected override ended(): void {
    if (this.state === "ended") return;
    this.state = "ended";
    this.runtime.cancel(this);
    this.release();
    if (this.sentAt >= 0) this.leaveOuter();
    if (this.abandonedFor !== null) this.abandonedEnded();
  }

  private abandonedEnded(): void {
    this.leaf.abandoned--;
    tellEnded(this, false);
  }
}
