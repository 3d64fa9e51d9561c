/**
 * How work hears that nobody waits for it any more: by an AbortSignal, made on first use because a used
 * AbortController costs more than all guards together, or by plain listeners. Both run from the loop, since they
 * are not ours.
 */
import type { Exit } from "./call.ts";
import { CancelledError } from "./errors.ts";
import type { Task } from "./loop.ts";
import type { Runtime } from "./runtime.ts";

/** Work that hears of its end without a closure. `fire` is called inside the kernel: it may only push a task. */
export interface AbortTarget {
  fire(because: Exit): void;
}

/** The end of an attempt as its work hears it. */
export class Abort implements AbortTarget, Task {
  readonly context = null;
  private readonly runtime: Runtime;
  private controller: AbortController | null = null;
  private readonly listeners: ((reason: unknown) => void)[] = [];
  private reason: unknown = undefined;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  get signal(): AbortSignal {
    if (this.controller === null) {
      this.controller = new AbortController();
      if (this.reason !== undefined) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** Calls `listener` once, after those that came before it. */
  listen(listener: (reason: unknown) => void): void {
    if (this.reason === undefined) this.listeners.push(listener);
    else this.runtime.loop.deliver(listener, this.reason);
  }

  /** Tells everybody, from the loop. */
  fire(because: Exit): void {
    const reason = reasonOf(because) ?? new CancelledError();
    this.reason = reason;
    const { loop } = this.runtime;
    for (const listener of this.listeners) loop.deliver(listener, reason);
    if (this.controller !== null) loop.push(this);
  }

  /** Fires the signal. Called by the loop. */
  run(): void {
    this.controller?.abort(this.reason);
  }
}

/** What the work is told: the reason of a cancel, the error of a timeout, or the exit that ended the attempt. */
function reasonOf(because: Exit): unknown {
  if (because.kind === "cancelled") return because.reason;
  return because.kind === "failed" ? because.error : because;
}
