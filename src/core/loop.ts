/**
 * The loop: the one place that runs what is not ours (work, answers, listeners).
 *
 * Guards change state synchronously and only *push* what must run; the loop runs it once no guard is half-way
 * through a change. So a callback may start calls, cancel its own call, or throw, and meets a consistent kernel;
 * and 200,000 waiters or retries in a row use one stack frame, not 200,000.
 *
 * Invariant: outside `enter` … `leave` nothing is pending. Freed places therefore reach their waiters before
 * control returns to the event loop.
 */
import type { Context, Runtime } from "./runtime.ts";

/** Something ready to run. `context` is the async context to run it in; null means the present one. */
export interface Task {
  readonly context: Context | null;
  run(): void;
}

/** The list is shortened after this many tasks in one stretch. */
const LONG = 1024;

/** Fills the places of tasks that have run, which would else be kept alive. */
const NOTHING: Task = { context: null, run() {} };

/** Runs ready tasks in order, never one inside another. */
export class Loop {
  private readonly runtime: Runtime;
  /** Ready tasks are those from `next` to `end`; the list itself is kept, so that it never has to grow again. */
  private readonly ready: Task[] = [];
  private next = 0;
  private end = 0;
  private active = false;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /** Whether something is being run by this loop right now. */
  get running(): boolean {
    return this.active;
  }

  /** Whether nothing is ready: then whoever would be pushed would be the very next to run. */
  get idle(): boolean {
    return this.next === this.end;
  }

  /** Opens a stretch of state changes. Returns whether the matching `leave` has to run what they made ready. */
  enter(): boolean {
    if (this.active) return false;
    this.active = true;
    return true;
  }

  /** Ends the stretch: runs what is ready, in order. Pass on what `enter` returned. */
  leave(outermost: boolean): void {
    if (!outermost) return;
    while (this.next < this.end) {
      const task = this.ready[this.next] as Task;
      this.ready[this.next++] = NOTHING;
      this.runOne(task);
      if (this.next === LONG) this.shorten();
    }
    this.next = 0;
    this.end = 0;
    this.active = false;
  }

  /** An endless stretch needs no endless memory. */
  private shorten(): void {
    this.ready.splice(0, LONG);
    this.next -= LONG;
    this.end -= LONG;
  }

  /** Makes a task ready. Only within `enter` … `leave`. */
  push(task: Task): void {
    this.ready[this.end++] = task;
  }

  /** Calls `fn(argument)` at the next safe point: now if the loop is idle. */
  deliver<A>(fn: ((argument: A) => void) | null, argument: A): void {
    if (fn === null) return;
    const outermost = this.enter();
    this.push(new Delivery(fn, argument));
    this.leave(outermost);
  }

  /** Runs a task that would be the next. Only as the last step of a stretch of state changes. */
  runOne(task: Task): void {
    try {
      if (task.context === null) task.run();
      else task.context.runInAsyncScope(runTask, undefined, task);
    } catch (error) {
      this.runtime.uncaught(error);
    }
  }
}

function runTask(task: Task): void {
  task.run();
}

class Delivery<A> implements Task {
  readonly context: Context | null = null;
  private readonly fn: (argument: A) => void;
  private readonly argument: A;

  constructor(fn: (argument: A) => void, argument: A) {
    this.fn = fn;
    this.argument = argument;
  }

  run(): void {
    this.fn(this.argument);
  }
}
