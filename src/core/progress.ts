/**
 * A call in progress: it has one answer, given once, and a caller who may cancel it at any moment.
 *
 * How it is driven is left to its two subclasses, the generator driver (`driver.ts`) and the fused path
 * (`fused.ts`). Both push themselves to the loop to continue and to deliver, so no callback of the caller's ever
 * runs inside a guard.
 */
import type { Admission } from "./admission.ts";
import type { Attempt } from "./attempt.ts";
import { Call, type CallFields, type Exit, type OperationSpec } from "./call.ts";
import { callEvent } from "./events.ts";
import { endingOf } from "./evidence.ts";
import type { Task } from "./loop.ts";
import type { Context, Runtime } from "./runtime.ts";

/** Hears how a call ended, once. */
export interface Answer {
  answered(exit: Exit, call: CallProcess): void;
}

/** What makes attempts: a call, or a branch of one. */
export interface Process {
  readonly root: CallProcess;
  /** How it ended, or null while it waits for its attempts. */
  readonly exit: Exit | null;
  answered(attempt: Attempt, exit: Exit): void;
}

/** A call in progress, whichever way it is driven. */
export abstract class CallProcess extends Call implements Process, Task {
  readonly runtime: Runtime;
  readonly work: unknown;
  /** The attempt in the course of which it is made, or null. The call is a part of it from its start to its answer. */
  readonly outer: Admission | null;
  private callerContext: Context | null = null;
  private answer: Answer | null;
  /** For the answer's own use: one answer may serve many calls. */
  back: unknown = undefined;
  private ending: Exit | null = null;
  /** Where its attempts were sent, as far as they chose; null before the first. */
  tried: unknown[] | null = null;
  /** For the events of this call; null while nobody listens. */
  private told: { sent: number; readonly startedAt: number } | null = null;

  constructor(
    runtime: Runtime,
    spec: OperationSpec,
    fields: CallFields,
    deadline: number,
    work: unknown,
    answer: Answer | null,
    outer: Admission | null,
  ) {
    super(spec, fields, deadline, 0);
    this.runtime = runtime;
    this.work = work;
    this.answer = answer;
    this.outer = outer;
    if (outer !== null) outer.beginNested();
    if (runtime.sink !== null) this.listened();
  }

  /** Somebody listens: so it needs a number and a beginning. */
  private listened(): void {
    this.id = this.runtime.nextCallId();
    this.told = { sent: 0, startedAt: this.runtime.now() };
  }

  /** An attempt was sent to the dependency. Called while somebody listens. */
  countSent(): void {
    if (this.told !== null) this.told.sent++;
  }

  get root(): CallProcess {
    return this;
  }

  /** Tells `answer` how it ends; only before it has been told to anybody. */
  answerTo(answer: Answer, back?: unknown): void {
    this.answer = answer;
    this.back = back;
  }

  /** How it ended, or null while it is in progress. */
  get exit(): Exit | null {
    return this.ending;
  }

  /** The caller's async context, if anything may have to run in it later. */
  get caller(): Context | null {
    return this.callerContext;
  }

  /** Captures it, if that has not been done: something will have to. Called within the call. */
  keepContext(): void {
    if (this.callerContext === null) this.callerContext = this.runtime.context();
  }

  /** What `run` runs in: its continuation in the caller's context; an answer needs none. */
  get context(): Context | null {
    return this.ending === null ? this.callerContext : null;
  }

  /** Begins: at once if nothing is being run, else as soon as that has returned. */
  start(mayContinueLater: boolean, now: number): void {
    const { loop } = this.runtime;
    if (!loop.enter()) return this.startNested();
    if (mayContinueLater) this.keepContext();
    this.advance(now);
    loop.leave(true);
  }

  private startNested(): void {
    this.keepContext();
    this.runtime.loop.push(this);
  }

  /** Gives the call up: answers at once, at every stage. A call that has ended stays as it ended. */
  cancel(reason: unknown): void {
    if (this.ending !== null) return;
    const outermost = this.runtime.loop.enter();
    this.finish({ kind: "cancelled", reason });
    this.unwind(reason);
    this.runtime.loop.leave(outermost);
  }

  /** Continues, or delivers the answer. Called by the loop. */
  run(): void {
    if (this.ending === null) return this.advance(null);
    const answer = this.answer;
    this.answer = null;
    if (answer !== null) answer.answered(this.ending, this);
  }

  abstract answered(attempt: Attempt, exit: Exit): void;
  /** Takes the next step; `now` if the clock has just been read. Called from the loop. */
  protected abstract advance(now: number | null): void;
  /** Gives up what is in progress; the answer has been fixed already. */
  protected abstract unwind(reason: unknown): void;

  /** Fixes the answer and leaves its delivery to the loop. */
  protected finish(exit: Exit): void {
    if (this.ending !== null) return;
    this.ending = exit;
    this.runtime.loop.push(this);
    if (this.runtime.sink !== null) this.tellAnswered(exit);
    if (this.outer !== null) this.outer.endNested();
  }

  /** The same where nothing is ready to run and nobody listens: its delivery would be the very next, and is now. */
  protected finishAtOnce(exit: Exit): void {
    if (this.runtime.sink !== null) return this.finish(exit);
    this.ending = exit;
    if (this.outer !== null) this.outer.endNested();
    this.runtime.loop.runOne(this);
  }

  protected tellAnswered(exit: Exit): void {
    const { runtime } = this;
    const now = runtime.now();
    // A listener who came later knows neither the beginning nor what was sent before.
    const { sent, startedAt } = this.told ?? { sent: 0, startedAt: now };
    const durationMs = now - startedAt;
    const body = { type: "call.answered", ending: endingOf(exit), sent, durationMs } as const;
    runtime.emit(callEvent(this, now, body));
  }
}
