/**
 * A time limit and its slices: one budget of time for a piece of work, divided among its steps.
 *
 * A request has 900 ms. Whoever gives each of its calls "900 ms" lets the first eat the time of the last; whoever gives
 * each a fixed timeout cuts calls off while there is time to spare. A slice is both: at most its own length from when it
 * begins, and never beyond the whole limit less what is reserved for the steps that come after. Branches that run side
 * by side are given the same slice. Sources: the resilience notes, §02 ("Budget time down the call graph", 900 ms).
 */

import { rejected } from "../core/call.ts";
import { OptionError, RefusedError } from "../core/errors.ts";
import { checkKeys, checkMs, orDefault } from "../core/options.ts";
import { MAX_TIMER_MS, type Runtime } from "../core/runtime.ts";
import { ambient, theHost } from "./host.ts";

/** How a slice is cut. */
export interface SliceOptions {
  /** Its length from now at most, in ms, 1 to 2^31 − 1. Default: all that is left, less `reserveMs`. */
  readonly ms?: number;
  /** Kept for what comes after it, in ms, 0 to 2^31 − 1. Default 0. */
  readonly reserveMs?: number;
  /** With less than this left it is refused at once, in ms, 0 to 2^31 − 1. Default 0: only when nothing is left. */
  readonly minMs?: number;
}

/** A point in time until which something is wanted, with a name for errors. Make one with `timeLimit`. */
export class TimeLimit {
  readonly name: string;
  /** Absolute, in the runtime's ms: pass it on as a call's `deadline`. */
  readonly deadline: number;
  private readonly runtime: Runtime;

  constructor(name: string, deadline: number, runtime: Runtime) {
    this.name = name;
    this.deadline = deadline;
    this.runtime = runtime;
  }

  /** Ms that are left, 0 at least. */
  get timeLeftMs(): number {
    return Math.max(0, this.deadline - this.runtime.now());
  }

  /**
   * A part of it, beginning now. Throws a `RefusedError` (by `deadline`) that names the slice when there is too little
   * time for it, and an `OptionError` for a wrong option.
   */
  slice(name: string, options: SliceOptions = {}): TimeLimit {
    const field = `slice(${JSON.stringify(name)})`;
    checkKeys(field, options, ["ms", "reserveMs", "minMs"]);
    const ms = checkMs(`${field}.ms`, orDefault(options.ms, MAX_TIMER_MS), { min: 1 });
    const reserveMs = checkMs(`${field}.reserveMs`, orDefault(options.reserveMs, 0));
    const minMs = checkMs(`${field}.minMs`, orDefault(options.minMs, 0));
    const now = this.runtime.now();
    const deadline = Math.min(now + ms, this.deadline - reserveMs);
    const path = `${this.name}.${name}`;
    if (deadline - now <= 0 || deadline - now < minMs)
      throw new RefusedError(this.name, name, rejected("deadline", "too little time left"));
    return new TimeLimit(path, deadline, this.runtime);
  }

  /** Throws a `RefusedError` (by `deadline`) when its time is over: for the beginning of an expensive step. */
  check(): void {
    if (this.timeLeftMs > 0) return;
    const at = this.name.lastIndexOf(".");
    throw new RefusedError(
      this.name.slice(0, Math.max(0, at)),
      this.name.slice(at + 1),
      rejected("deadline", "expired"),
    );
  }
}

/** Options of `timeLimit`. */
export interface TimeLimitOptions {
  /** How long from now, in ms, 1 to 2^31 − 1. No default. */
  readonly ms: number;
  /** Stands in errors. Default "request". */
  readonly name?: string;
}

/**
 * A time limit that begins now: `ms` from now, or the deadline of the request that is being served here, whichever is
 * sooner. Throws an `OptionError` for a wrong option.
 */
export function timeLimit(options: TimeLimitOptions, runtime: Runtime = theHost().runtime): TimeLimit {
  checkKeys("timeLimit", options, ["ms", "name"]);
  const ms = checkMs("timeLimit.ms", options.ms, { min: 1 });
  const name = orDefault(options.name, "request");
  if (typeof name !== "string" || name === "")
    throw new OptionError("timeLimit.name", name, "a text that is not empty");
  return new TimeLimit(name, Math.min(runtime.now() + ms, ambient()?.deadline ?? Infinity), runtime);
}
