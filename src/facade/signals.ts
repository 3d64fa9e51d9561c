/**
 * Callers' signals. However many calls hang on one signal, it has one listener of ours, and none once they have all
 * been answered: a process-wide signal never collects listeners.
 */
import type { CallProcess } from "../core/progress.ts";

class Calls {
  private readonly signal: AbortSignal;
  private readonly calls: Set<CallProcess> = new Set();
  private readonly abort = (): void => {
    const { reason } = this.signal;
    for (const call of [...this.calls]) call.cancel(reason);
  };

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  add(call: CallProcess): void {
    if (this.calls.size === 0) this.signal.addEventListener("abort", this.abort);
    this.calls.add(call);
  }

  delete(call: CallProcess): void {
    this.calls.delete(call);
    if (this.calls.size === 0) this.signal.removeEventListener("abort", this.abort);
  }
}

const bySignal: WeakMap<AbortSignal, Calls> = new WeakMap();

/** Cancels `call` when `signal` fires. */
export function follow(signal: AbortSignal, call: CallProcess): void {
  let calls = bySignal.get(signal);
  if (calls === undefined) {
    calls = new Calls(signal);
    bySignal.set(signal, calls);
  }
  calls.add(call);
}

/** Stops following: the call has been answered. */
export function unfollow(signal: AbortSignal, call: CallProcess): void {
  bySignal.get(signal)?.delete(call);
}
