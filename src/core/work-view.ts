/**
 * What the work sees of its attempt: how long it has, and how it hears that nobody waits any more; and what it may say:
 * that something of it goes on, or that the callee has begun.
 */
import { Abort, type AbortTarget } from "./abort.ts";
import { Admission } from "./admission.ts";
import type { Exit } from "./call.ts";
import { OptionError } from "./errors.ts";
import type { Leaf } from "./leaf.ts";
import type { CallProcess, Process } from "./progress.ts";

/** `waiting` for a place, `admitted` but not yet started, `sent`, `answered`, and last `ended`. */
export type AttemptState = "new" | "waiting" | "admitted" | "sent" | "answered" | "ended";

/** The side of an attempt that its work uses. The fields are the attempt's: here they cost no constructor. */
export abstract class WorkView extends Admission {
  declare readonly leaf: Leaf;
  declare state: AttemptState;
  declare protected abandonedFor: Exit | null;
  /** Who is told how it was answered; null afterwards. */
  declare protected maker: Process | null;
  /** Made when the work asks to hear of its end. */
  declare protected abort: Abort | AbortTarget | null;

  /** Absolute end of this attempt in the runtime's ms: its own timeout or the call's deadline, the sooner. */
  get deadline(): number {
    return Math.min(this.call.deadline, this.sentAt + this.timeoutMs);
  }

  /** Ms until this attempt is given up, 0 at least; `Infinity` when nothing bounds it. */
  get timeLeftMs(): number {
    return Math.max(0, this.deadline - this.runtime.now());
  }

  /** Fires when the attempt is given up. Made on first use; work that never reads it pays nothing. */
  get signal(): AbortSignal {
    return this.aborting.signal;
  }

  /** Calls `listener` once when the attempt is given up: a signal's cheap twin, for adapters. */
  onAbort(listener: (reason: unknown) => void): void {
    this.aborting.listen(listener);
  }

  /** Tells `target` instead, and nobody else: for work that is an object itself, and counts what it allocates. */
  abortTo(target: AbortTarget): void {
    this.abort = target;
  }

  private get aborting(): Abort {
    if (!(this.abort instanceof Abort)) {
      this.abort = new Abort(this.runtime);
      if (this.abandonedFor !== null) this.abort.fire(this.abandonedFor);
    }
    return this.abort as Abort;
  }

  /** Keeps the attempt alive until the returned function is called: for a body that outlives its headers. */
  hold(): () => void {
    if (this.live === 0) return () => {};
    this.live++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const outermost = this.runtime.loop.enter();
      this.endOne();
      this.runtime.loop.leave(outermost);
    };
  }

  /** To be called when the callee says that it has begun on this attempt: those that are tied to it are given up. */
  started(): void {
    const { tie } = this.plan;
    if (tie === undefined || this.state !== "sent") return;
    const outermost = this.runtime.loop.enter();
    tie.started();
    this.runtime.loop.leave(outermost);
  }

  /**
   * Where to send it: one of `destinations`, at random among those to which no other attempt of the call was sent, so
   * that a retry or a hedge meets another failure domain; among all when none is left. Give names, or the same objects
   * each time (`===`). Throws an `OptionError` for an empty list.
   */
  choose<D>(destinations: readonly D[]): D {
    if (!Array.isArray(destinations) || destinations.length === 0)
      throw new OptionError("destinations", destinations, "a list that is not empty");
    const { leaf, maker } = this;
    const tried = maker === null ? [] : triedBy(maker.root);
    const fresh = destinations.filter((each) => !tried.includes(each));
    const from = fresh.length > 0 ? fresh : destinations;
    const chosen = from[Math.floor(leaf.destinations.next() * from.length)] as D;
    tried.push(chosen);
    return chosen;
  }
}

function triedBy(call: CallProcess): unknown[] {
  call.tried ??= [];
  return call.tried;
}
