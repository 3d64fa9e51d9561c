/**
 * The driver: runs a policy written as generators.
 *
 * A sequence (retry, hedge, fallback …) is a short generator that reads like straight-line code. It yields *steps*;
 * each suspends the fiber until it resumes it. Three kinds block: an attempt (or a scope) that waits and works, a
 * sleep, and a choice between branches. Each honours the call's deadline itself, so nothing else races with a clock.
 *
 * Cancelling answers at once, cancels the branches, then unwinds through the generators' `finally` blocks, which
 * hold no yield, return, continue or throw. A fiber that is executing is marked, and unwinds at its next step.
 */
import { Admission, type Plan } from "./admission.ts";
import { Attempt } from "./attempt.ts";
import {
  type CallFields,
  type Exit,
  type Failed,
  failed,
  type OperationSpec,
  type Rejected,
} from "./call.ts";
import { evidenceOf } from "./evidence.ts";
import type { Leaf } from "./leaf.ts";
import type { Task } from "./loop.ts";
import { type Answer, CallProcess, type Process } from "./progress.ts";
import type { Run } from "./run.ts";
import { type Context, type Runtime, Timer } from "./runtime.ts";

/** Something a fiber waits for. It ends by resuming the fiber, unless it is cancelled first. */
export interface Step {
  begin(): void;
  cancel(reason: unknown): void;
}

/** A policy in progress: yields steps, returns how it ended. */
export type Steps = Generator<Step, Exit, unknown>;

/** The next layer inwards. */
export type Next = (plan: Plan, fiber: Fiber) => Steps;

/** A guard that waits or repeats. */
export interface Sequence {
  readonly name: string;
  run(plan: Plan, next: Next, fiber: Fiber): Steps;
}

/** One strand of a call: a generator and the step it waits for. */
export class Fiber implements Process, Task {
  readonly root: CallProcess;
  /** How it ended, or null. */
  exit: Exit | null = null;
  private readonly steps: Steps;
  private readonly ended: (exit: Exit) => void;
  private readonly branches: Fiber[] = [];
  private currentStep: Step | null = null;
  private resumedWith: unknown = undefined;
  private executing = false;

  constructor(root: CallProcess, policy: Next, plan: Plan, ended: (exit: Exit) => void) {
    this.root = root;
    this.steps = policy(plan, this);
    this.ended = ended;
  }

  get context(): Context | null {
    return this.root.caller;
  }

  /** What it waits for, or null. */
  get step(): Step | null {
    return this.currentStep;
  }

  /** Starts a branch, from the loop. It is cancelled with this fiber. */
  fork(policy: Next, plan: Plan, ended: (exit: Exit) => void): Fiber {
    const branch = new Fiber(this.root, policy, plan, ended);
    this.branches.push(branch);
    this.root.runtime.loop.push(branch);
    return branch;
  }

  /** Ends the wait for the present step. */
  resume(value: unknown): void {
    this.currentStep = null;
    this.resumedWith = value;
    this.root.runtime.loop.push(this);
  }

  answered(_attempt: Attempt, exit: Exit): void {
    this.resume(exit);
  }

  /** Runs to the next step. Called by the loop. */
  run(): void {
    if (this.exit !== null) return;
    this.executing = true;
    let result: IteratorResult<Step, Exit>;
    try {
      result = this.steps.next(this.resumedWith);
    } catch (error) {
      // Only a callback of the user's (a backoff, say) can throw in here.
      result = { done: true, value: failed(error, "permanent") };
    }
    this.executing = false;
    if (this.exit !== null) this.unwind();
    else if (result.done === true) this.end(result.value);
    else {
      this.currentStep = result.value;
      result.value.begin();
    }
  }

  /** Gives this strand up. */
  cancel(reason: unknown): void {
    if (this.exit !== null) return;
    this.exit = { kind: "cancelled", reason };
    for (const branch of this.branches) branch.cancel(reason);
    const step = this.currentStep;
    this.currentStep = null;
    if (step !== null) step.cancel(reason);
    if (!this.executing) this.unwind();
  }

  private end(exit: Exit): void {
    this.exit = exit;
    for (const branch of this.branches) branch.cancel(undefined);
    this.ended(exit);
  }

  private unwind(): void {
    this.steps.return(this.exit as Exit);
  }
}

/** A call driven through generators. */
export class GeneratedCall extends CallProcess {
  private readonly fiber: Fiber;

  constructor(
    runtime: Runtime,
    spec: OperationSpec,
    fields: CallFields,
    deadline: number,
    work: unknown,
    answer: Answer | null,
    policy: Next,
    outer: Admission | null,
  ) {
    super(runtime, spec, fields, deadline, work, answer, outer);
    const plan: Plan = { call: this, number: 1, kind: "original", token: null, outer };
    this.fiber = new Fiber(this, policy, plan, (exit) => this.finish(exit));
  }

  override answered(): void {}

  protected override advance(): void {
    this.fiber.run();
  }

  protected override unwind(reason: unknown): void {
    this.fiber.cancel(reason);
  }
}

/** Waits `delayMs`. */
export class Sleep extends Timer implements Step {
  private readonly fiber: Fiber;
  private readonly delayMs: number;

  constructor(fiber: Fiber, delayMs: number) {
    super();
    this.fiber = fiber;
    this.delayMs = delayMs;
  }

  begin(): void {
    const { runtime } = this.fiber.root;
    runtime.arm(this, runtime.now() + this.delayMs);
  }

  cancel(): void {
    this.fiber.root.runtime.cancel(this);
  }

  override fire(): void {
    this.fiber.resume(undefined);
  }
}

/** The innermost layer: one attempt. A probe that is a whole sequence limits each of its attempts. */
export function attemptOf(leaf: Leaf): Next {
  return function* (plan, fiber) {
    const attempt = new Attempt(fiber.root.runtime, leaf, plan, fiber, fiber.root.work);
    const limitMs = limitWithin(plan);
    if (limitMs < Infinity) attempt.timeoutMs = limitMs;
    return (yield attempt) as Exit;
  };
}

/** The limit that a guard around the sequence has set for each attempt; `Infinity` where none has. */
function limitWithin({ outer }: Plan): number {
  return outer instanceof Scope ? outer.timeoutMs : Infinity;
}

/** A layer of admitters around a sequence: their places are held until everything within has ended. */
export function scopeOf(run: Run, next: Next): Next {
  return function* (plan, fiber) {
    const scope = new Scope(run, plan, fiber);
    let exit: Exit = { kind: "cancelled", reason: undefined };
    try {
      const refusal = (yield scope) as Rejected | Failed | null;
      exit = refusal ?? (yield* next({ ...plan, kind: scope.kind, outer: scope }, fiber));
    } finally {
      scope.close(exit);
    }
    return exit;
  };
}

/** The admission of a whole sequence. Resumes its fiber with the refusal, or null. */
class Scope extends Admission implements Step {
  protected readonly guards: Run;
  private readonly fiber: Fiber;
  private open = false;

  constructor(run: Run, plan: Plan, fiber: Fiber) {
    super(fiber.root.runtime, plan);
    this.guards = run;
    this.fiber = fiber;
  }

  protected override get usualTimeoutMs(): number {
    return limitWithin(this.plan);
  }

  begin(): void {
    const now = this.runtime.now();
    const late = this.tooLate(now);
    if (late === null) this.ask(now);
    else this.refused(late);
  }

  cancel(): void {
    this.stopWaiting();
  }

  /** The sequence within has ended; attempts it left behind keep the places until they end. */
  close(exit: Exit): void {
    if (!this.open) return;
    this.open = false;
    this.settle(evidenceOf(exit));
    this.endOne();
    if (this.live > 0 && exit.kind !== "ok") this.reclaimLater();
  }

  /** The attempts within are its own work, whoever has been answered. */
  protected override ownEnded(): void {}

  override fire(): void {
    if (this.room === null) this.reclaim();
    else this.waitEnded();
  }

  protected override ended(): void {
    this.runtime.cancel(this);
    super.ended();
  }

  protected override admitted(now: number): void {
    this.open = true;
    this.sentAt = now;
    this.begun();
    this.fiber.resume(null);
  }

  protected override ready(): void {
    this.admitted(this.runtime.now());
  }

  protected override refused(exit: Rejected | Failed): void {
    this.fiber.resume(exit);
  }

  protected override waits(): void {
    this.fiber.root.keepContext();
  }
}
