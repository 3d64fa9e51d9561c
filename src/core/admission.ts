/**
 * Asking for places: the record of one request for admission, and what it meets (the run it asks is in `run.ts`).
 *
 * Every guard of a run is first *asked* (`check`, which changes nothing), and only if all admit are all places
 * *taken*: nothing ever has to be undone. One guard of a run may make the record wait in its room; whoever leaves a
 * room is asked again, the whole run, in the same step, so a probe or a token is never held during a wait.
 *
 * What was taken is a list of permits. A permit hears two things: `settle` once, when the attempt is answered
 * (evidence), and `release` once, when its work has truly ended (capacity). The two are far apart for work that
 * ignores its timeout; treating them as one is how every peer measured runs five at once behind a limit of one.
 */
import type { Asking, Permit } from "./admitter.ts";
import type { Token } from "./budget/budget.ts";
import { type AttemptKind, type Call, type Failed, failed, type Rejected, rejected } from "./call.ts";
import type { Evidence } from "./evidence.ts";
import { type Room, Wait } from "./room.ts";
import type { Run } from "./run.ts";
import { type Runtime, Timer } from "./runtime.ts";

/** What a sequence asks the next layer for: this call, as this attempt. */
export interface Plan {
  readonly call: Call;
  readonly number: number;
  readonly kind: AttemptKind;
  /** The token that the attempt spends when it is sent, or hands back. */
  readonly token: Token | null;
  /** What this is a part of: the admission of a sequence, or the attempt in the course of which the call is made. */
  readonly outer: Admission | null;
  /** Hears that the callee has begun on the attempt, where others are tied to it. */
  readonly tie?: { started(): void };
}

/** The refusal for a call whose deadline passes before it is sent. */
export const EXPIRED: Rejected = rejected("deadline", "expired");

/**
 * One request for places: waits, is let in or refused, is answered, and ends. An `Attempt` is the admission of one
 * send; a `Scope` is that of a whole sequence.
 */
export abstract class Admission extends Timer implements Asking {
  readonly runtime: Runtime;
  readonly call: Call;
  kind: AttemptKind;
  /** Its wait for a place, kept when it is over; null if it did not have to wait. */
  wait: Wait | null = null;
  /** When its work began, in the runtime's ms; −1 before. */
  sentAt = -1;
  /** Parts of its work that have not ended; the places are given back when none is left. */
  live = 0;
  /** Those of them that are calls made within it. */
  protected nested = 0;
  protected readonly plan: Plan;
  /** A limit in ms that replaces the usual one; null mostly. */
  private ownTimeoutMs: number | null = null;
  /** What it holds, or null. */
  private permits: readonly Permit[] | null = null;

  constructor(runtime: Runtime, plan: Plan) {
    super();
    this.runtime = runtime;
    this.plan = plan;
    this.call = plan.call;
    this.kind = plan.kind;
  }

  /** Whom it asks. */
  protected abstract get guards(): Run;

  /** The attempt's own limit in ms, `Infinity` for none. A guard may replace it when it takes (a probe's). */
  get timeoutMs(): number {
    return this.ownTimeoutMs === null ? this.usualTimeoutMs : this.ownTimeoutMs;
  }

  set timeoutMs(timeoutMs: number) {
    this.ownTimeoutMs = timeoutMs;
  }

  protected abstract get usualTimeoutMs(): number;

  /** What it waits in at present, or null. */
  get room(): Room | null {
    return this.wait === null ? null : this.wait.room;
  }

  /** Which attempt of its call this is, from 1. */
  get number(): number {
    return this.plan.number;
  }

  /** The retry token this attempt spends when it is sent; null for a first attempt. */
  get token(): Token | null {
    return this.plan.token;
  }

  /** The admission around this one, which lasts at least as long. */
  get outer(): Admission | null {
    return this.plan.outer;
  }

  /** Starts: one more part of it is alive, and so is everything around it. */
  protected begun(): void {
    this.live = 1;
    if (this.outer !== null) this.outer.beginNested();
  }

  /** A call made within it begins, or an attempt of one. */
  beginNested(): void {
    this.live++;
    this.nested++;
  }

  /** One part of its own has ended. */
  endOne(): void {
    if (--this.live === 0) this.ended();
    else if (this.live === this.nested) this.ownEnded();
  }

  /** One of those has ended. */
  endNested(): void {
    this.nested--;
    if (--this.live === 0) this.ended();
  }

  /** Only calls made within it are alive: what follows its own work alone is given back. */
  protected ownEnded(): void {
    const held = this.permits;
    if (held?.some(isHandlers) !== true) return;
    this.permits = held.filter((permit) => !isHandlers(permit));
    for (const permit of held) if (isHandlers(permit)) permit.release();
  }

  /** The last part has ended: the places are free, and one part of what is around has ended. */
  protected ended(): void {
    this.release();
    this.leaveOuter();
  }

  /** What is around has one part less. */
  protected leaveOuter(): void {
    if (this.outer !== null) this.outer.endNested();
  }

  /** All places are held: start. Called from the loop. */
  protected abstract admitted(now: number): void;
  /** Refused, or its guards could not even be asked; nothing is held. */
  protected abstract refused(exit: Rejected | Failed): void;

  /** The refusal for lack of time, or null while there is enough. */
  protected tooLate(now: number): Rejected | null {
    return this.call.deadline <= now ? EXPIRED : null;
  }

  /** Asks the run: starts, waits, or is refused. */
  protected ask(now: number): void {
    const answer = this.askGuards(now);
    if (answer === null) {
      this.takeAll(now);
      this.admitted(now);
    } else if (answer.kind === "failed") this.refused(answer);
    else if (answer.kind === "rejected") this.turnAway(answer, now);
    else this.waitIn(answer, now);
  }

  /** What the run says; or, where a callback of the user's in it threw, that. */
  private askGuards(now: number): Rejected | Room | Failed | null {
    try {
      return this.guards.check(this, now);
    } catch (error) {
      return failed(error, "permanent", { effect: "none" });
    }
  }

  private turnAway(refusal: Rejected, now: number): void {
    if (this.guards.hearsRefusals) this.guards.refusedBy(refusal, this, now);
    this.refused(refusal);
  }

  private takeAll(now: number): void {
    this.permits = this.guards.take(this, now);
  }

  private waitIn(room: Room, now: number): void {
    const wait = new Wait(this, room);
    const full = room.join(wait, now);
    if (full !== null) return this.turnAway(full, now);
    this.wait = wait;
    this.waits();
  }

  /** Called when it begins to wait, within the call. */
  protected abstract waits(): void;

  /**
   * A place came free and this one is next. Asks the whole run again and takes, in one step; the start itself is
   * left to the loop. Returns whether the place was used. Only a room calls this, after forgetting the admission.
   */
  called(now: number): boolean {
    this.leftRoom();
    this.runtime.cancel(this);
    const answer = this.tooLate(now) ?? this.askGuards(now);
    if (answer === null) {
      this.takeAll(now);
      this.ready();
      return true;
    }
    if (answer.kind === "failed") this.refused(answer);
    else this.turnAway(answer.kind === "rejected" ? answer : answer.waitedTooLong, now);
    return false;
  }

  /** Called after a wait: makes the loop start what `admitted` starts at once. */
  protected abstract ready(): void;

  /** The wait has lasted too long. */
  protected waitEnded(): void {
    const wait = this.wait as Wait;
    const room = wait.room as Room;
    room.leave(wait);
    this.leftRoom();
    const now = this.runtime.now();
    this.turnAway(this.call.deadline <= now ? EXPIRED : room.waitedTooLong, now);
  }

  /** Leaves the room without an answer of its own (the caller has gone). */
  protected stopWaiting(): void {
    const { wait } = this;
    if (wait === null || wait.room === null) return;
    wait.room.leave(wait);
    this.leftRoom();
    this.runtime.cancel(this);
  }

  private leftRoom(): void {
    if (this.wait !== null) this.wait.room = null;
  }

  /** Tells every guard how the attempt was answered. */
  protected settle(evidence: Evidence): void {
    const { permits } = this;
    if (permits === null) return;
    for (let i = 0; i < permits.length; i++) (permits[i] as Permit).settle(evidence, this);
  }

  /** Gives every place back, once. */
  protected release(): void {
    const { permits } = this;
    if (permits === null) return;
    this.permits = null;
    for (let i = 0; i < permits.length; i++) (permits[i] as Permit).release();
  }

  /** What is held is held by abandoned work: has it taken back when its time comes, if it has one. */
  protected reclaimLater(): void {
    const firstMs = soonest(this.permits);
    if (firstMs < Infinity) this.runtime.arm(this, this.runtime.now() + firstMs);
  }

  /** After how many ms the first of its places would be taken back. */
  protected get reclaimMs(): number {
    return soonest(this.permits);
  }

  /** The place that was to be taken back first, after `dueMs`, may be held no more: waits for the next one's time. */
  protected reclaimNext(dueMs: number): void {
    const nextMs = this.reclaimMs;
    if (nextMs === Infinity) this.runtime.cancel(this);
    else if (nextMs > dueMs) this.runtime.arm(this, this.dueAt + nextMs - dueMs);
  }

  /** Takes back the places that are due, and only those; the others have a later time, or none. */
  protected reclaim(): void {
    const held = this.permits ?? [];
    const dueMs = soonest(held);
    const kept = held.filter((permit) => reclaimOf(permit) > dueMs);
    this.permits = kept;
    if (soonest(kept) < Infinity) this.runtime.arm(this, this.dueAt + soonest(kept) - dueMs);
    for (const permit of held) if (reclaimOf(permit) <= dueMs) permit.release();
  }
}

function reclaimOf({ reclaimAbandonedAfterMs }: Permit): number {
  return reclaimAbandonedAfterMs ?? Infinity;
}

function isHandlers({ holds }: Permit): boolean {
  return holds === "handler";
}

function soonest(permits: readonly Permit[] | null): number {
  return permits === null ? Infinity : Math.min(Infinity, ...permits.map(reclaimOf));
}
