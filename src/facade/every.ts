/**
 * Work that is done again and again: at a stable offset within each period, never twice at once, and never in a burst
 * after a pause. A run that is still going when the next is due makes that one be left out, and counted.
 */
import { OptionError } from "../core/errors.ts";
import { checkFunction, checkKeys, checkMs } from "../core/options.ts";
import { nextDue, stableOffset } from "../core/periodic/machine.ts";
import { type Runtime, Timer } from "../core/runtime.ts";
import { aHost, theHost } from "./host.ts";

/** Options of `every`. */
export interface EveryOptions {
  /** How often, in ms, 1 to 2^31 − 1. No default. */
  readonly periodMs: number;
  /** Whose work it is (a host, an agent): decides when in the period it is due. Not empty. No default. */
  readonly id: string;
}

/** Periodic work in progress. */
export interface Every {
  /** Runs begun, and those left out because the one before was still going. */
  readonly runs: number;
  readonly leftOut: number;
  /** When in each period it is due, in ms. */
  readonly offsetMs: number;
  /** No further run begins; one that is going has its signal fired. */
  stop(): void;
}

/**
 * Does `work` once in each period, from the next due time on. It gets a signal that fires at `stop()`. What it throws
 * is reported as uncaught, and the next run begins all the same. Times are the runtime's: with another clock than the
 * process's own, pass that. Throws an `OptionError` for a wrong option.
 */
export function every(
  options: EveryOptions,
  work: (signal: AbortSignal) => unknown,
  runtime: Runtime = theHost().runtime,
): Every {
  return new Periodic(options, work, runtime, startOf(runtime));
}

/** Periods are those of the wall clock where there is one: an offset is then the same after a restart. */
function startOf(runtime: Runtime): number {
  const host = aHost();
  return host?.runtime === runtime ? (host.startedAtMs ?? 0) : 0;
}

class Periodic extends Timer implements Every {
  runs = 0;
  leftOut = 0;
  readonly offsetMs: number;
  private readonly periodMs: number;
  private readonly work: (signal: AbortSignal) => unknown;
  private readonly runtime: Runtime;
  private readonly startedAtMs: number;
  private readonly stopping = new AbortController();
  private going = false;

  constructor(
    options: EveryOptions,
    work: (signal: AbortSignal) => unknown,
    runtime: Runtime,
    startedAtMs: number,
  ) {
    super();
    checkKeys("every", options, ["periodMs", "id"]);
    this.periodMs = checkMs("every.periodMs", options.periodMs, { min: 1 });
    if (typeof options.id !== "string" || options.id === "")
      throw new OptionError("every.id", options.id, "a text that is not empty");
    this.offsetMs = stableOffset(options.id, this.periodMs);
    this.work = checkFunction("work", work);
    this.runtime = runtime;
    this.startedAtMs = startedAtMs;
    this.armNext();
  }

  stop(): void {
    this.runtime.cancel(this);
    this.stopping.abort();
  }

  override fire(): void {
    this.armNext();
    if (this.going) this.leftOut++;
    else this.runtime.loop.deliver(() => this.run(), undefined);
  }

  private armNext(): void {
    const { runtime, startedAtMs } = this;
    runtime.arm(this, nextDue(startedAtMs + runtime.now(), this.offsetMs, this.periodMs) - startedAtMs);
  }

  private run(): void {
    if (this.stopping.signal.aborted) return;
    this.runs++;
    this.going = true;
    const ended = (): void => {
      this.going = false;
    };
    new Promise((resolve) => resolve(this.work(this.stopping.signal))).then(ended, (error) => {
      ended();
      this.runtime.uncaught(error);
    });
  }
}
