/**
 * A timeout as an exit. Its error is made when somebody first reads it: a native Error costs more than all the rest
 * of a timeout, and whoever tries again or counts the failure never looks at it.
 */
import type { Call, Exit, Failed, Rejected } from "./call.ts";
import { TimeoutError } from "./errors.ts";

/** The attempt ran its full time, or ended at the call's deadline. */
export class TimedOut implements Failed {
  readonly kind = "failed";
  readonly class = "transient";
  readonly effect = "unknown";
  readonly pushback = undefined;
  readonly ended: "timeout" | "clipped";
  stoppedBy: Rejected | undefined = undefined;
  private readonly call: Call;
  private readonly limitMs: number;
  private made: TimeoutError | null = null;

  constructor(call: Call, limitMs: number, clipped: boolean) {
    this.ended = clipped ? "clipped" : "timeout";
    this.call = call;
    this.limitMs = limitMs;
  }

  /** The same error however often it is read. */
  get error(): TimeoutError {
    if (this.made === null) this.made = new TimeoutError(this.call, this.limitMs, this.ended === "clipped");
    return this.made;
  }

  /** As plain data, for those who copy, print or compare it. */
  get plain(): Failed {
    const { kind, error, class: failureClass, effect, pushback, ended, stoppedBy } = this;
    return { kind, error, class: failureClass, effect, pushback, ended, stoppedBy };
  }
}

/** An exit as plain data. */
export function plain<E extends Exit>(exit: E): E | Failed {
  return exit instanceof TimedOut ? exit.plain : exit;
}
