/**
 * A signal that fires with the first of a caller's own. `AbortSignal.any` would do, but what it makes of a signal that
 * lives on is never let go on Node 20; the signals that are followed here are let go when the call has been answered.
 */
import { type Follower, follow, unfollow } from "../../facade/signals.ts";

/** One signal for all ways in which a caller may leave. */
export class Leaving implements Follower {
  private readonly own: AbortController = new AbortController();
  private readonly followed: readonly AbortSignal[];

  constructor(signals: readonly (AbortSignal | null | undefined)[]) {
    this.followed = signals.filter((signal) => signal != null);
    for (const signal of this.followed) follow(signal, this);
    const fired = this.followed.find((signal) => signal.aborted);
    if (fired !== undefined) this.cancel(fired.reason);
  }

  /** The only one there is, or one that fires with the first of several; undefined where nobody can leave. */
  get signal(): AbortSignal | undefined {
    return this.followed.length < 2 ? this.followed[0] : this.own.signal;
  }

  cancel(reason: unknown): void {
    this.own.abort(reason);
  }

  /** The call has been answered. */
  end(): void {
    for (const signal of this.followed) unfollow(signal, this);
  }
}
