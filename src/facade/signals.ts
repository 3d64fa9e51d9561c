/**
 * Callers' signals. However many calls hang on one signal, it has one listener of ours, and none once they have all
 * been answered: a process-wide signal never collects listeners.
 */
/** Who follows a signal: a call, say. */
export interface Follower {
  cancel(reason: unknown): void;
}

class Calls {
  private readonly signal: AbortSignal;
  private readonly calls: Set<Follower> = new Set();
  private readonly abort = (): void => {
    const { reason } = this.signal;
    for (const call of [...this.calls]) call.cancel(reason);
  };

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  add(call: Follower): void {
    if (this.calls.size === 0) this.signal.addEventListener("abort", this.abort);
    this.calls.add(call);
  }

  delete(call: Follower): void {
    this.calls.delete(call);
    if (this.calls.size === 0) this.signal.removeEventListener("abort", this.abort);
  }
}

const bySignal: WeakMap<AbortSignal, Calls> = new WeakMap();

/** Cancels `call` when `signal` fires. */
export function follow(signal: AbortSignal, call: Follower): void {
  let calls = bySignal.get(signal);
  if (calls === undefined) {
    calls = new Calls(signal);
    bySignal.set(signal, calls);
  }
  calls.add(call);
}

/** Stops following: the call has been answered. */
export function unfollow(signal: AbortSignal, call: Follower): void {
  bySignal.get(signal)?.delete(call);
}
