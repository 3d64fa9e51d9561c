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

/** After this many tasks in one stretch the list is shortened, so that an endless stretch needs no endless memory. */
const LONG = 1024;

/** Runs ready tasks in order, never one inside another. */
export class Loop {
  readonly #runtime: Runtime;
  readonly #ready: Task[] = [];
  #next = 0;
  #running = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Whether something is being run by this loop right now. */
  get running(): boolean {
    return this.#running;
  }

  /** Whether nothing is ready: then whoever would be pushed would be the very next to run. */
  get idle(): boolean {
    return this.#next === this.#ready.length;
  }

  /** Opens a stretch of state changes. Returns whether the matching `leave` has to run what they made ready. */
  enter(): boolean {
    if (this.#running) return false;
    this.#running = true;
    return true;
  }

  /** Ends the stretch: runs what is ready, in order. Pass on what `enter` returned. */
  leave(outermost: boolean): void {
    if (!outermost) return;
    const ready = this.#ready;
    while (this.#next < ready.length) {
      this.#runOne(ready[this.#next++] as Task);
      if (this.#next === LONG) {
        ready.splice(0, LONG);
        this.#next = 0;
      }
    }
    ready.length = 0;
    this.#next = 0;
    this.#running = false;
  }

  /** Makes a task ready. Only within `enter` … `leave`. */
  push(task: Task): void {
    this.#ready.push(task);
  }

  /** Calls `fn(argument)` at the next safe point: now if the loop is idle. */
  deliver<A>(fn: ((argument: A) => void) | null, argument: A): void {
    if (fn === null) return;
    const outermost = this.enter();
    this.push(new Delivery(fn, argument));
    this.leave(outermost);
  }

  #runOne(task: Task): void {
    try {
      if (task.context === null) task.run();
      else task.context.run(runTask, task);
    } catch (error) {
      this.#runtime.uncaught(error);
    }
  }
}

function runTask(task: Task): void {
  task.run();
}

class Delivery<A> implements Task {
  readonly context: Context | null = null;
  readonly #fn: (argument: A) => void;
  readonly #argument: A;

  constructor(fn: (argument: A) => void, argument: A) {
    this.#fn = fn;
    this.#argument = argument;
  }

  run(): void {
    this.#fn(this.#argument);
  }
}
