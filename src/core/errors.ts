/**
 * The errors that Plimsoll itself makes. They carry no stack: a stack costs 2.5 µs, and the place that refused is
 * always the same; what matters stands in their fields. Nobody's own errors are wrapped: a failed call throws what
 * the dependency threw.
 */
import type { Call, Rejected } from "./call.ts";

/** The closed set of codes. */
export type ErrorCode =
  | "PLIMSOLL_TIMEOUT"
  | "PLIMSOLL_REFUSED"
  | "PLIMSOLL_CANCELLED"
  | "PLIMSOLL_OPTION"
  | "PLIMSOLL_UNSOUND";

/** What all errors of Plimsoll have in common; ask `error instanceof PlimsollError`. */
export abstract class PlimsollError extends Error {
  abstract readonly code: ErrorCode;

  constructor(message: string) {
    const limit = Error.stackTraceLimit;
    limitStacks(0);
    super(message);
    limitStacks(limit);
  }
}

/** How many frames the errors made from here on record. Where intrinsics are frozen it stays as it is. */
export function limitStacks(frames: number | undefined): void {
  try {
    (Error as { stackTraceLimit?: number | undefined }).stackTraceLimit = frames;
  } catch {
    // A stack more is better than no answer.
  }
}

/** An attempt was given up. Whether it took effect is unknown. */
export class TimeoutError extends PlimsollError {
  override readonly name = "TimeoutError";
  readonly code = "PLIMSOLL_TIMEOUT";
  readonly dependency: string;
  readonly operation: string;
  /** How long the attempt had. */
  readonly limitMs: number;
  /** Whether the call's deadline cut it short; otherwise it had its full timeout. */
  readonly clipped: boolean;

  constructor(call: Call, limitMs: number, clipped: boolean) {
    const why = clipped ? "the call's deadline" : "its attempt timeout";
    super(`${call.dependency}.${call.operation}: given up after ${Math.round(limitMs)} ms by ${why}`);
    this.dependency = call.dependency;
    this.operation = call.operation;
    this.limitMs = limitMs;
    this.clipped = clipped;
  }
}

/** Refused locally: nothing was sent, so it is safe to do something else. */
export class RefusedError extends PlimsollError {
  override readonly name = "RefusedError";
  readonly code = "PLIMSOLL_REFUSED";
  readonly dependency: string;
  readonly operation: string;
  /** The guard that refused: `breaker`, `bulkhead`, `deadline` … */
  readonly by: string;
  /** What it saw: `open`, `full`, `expired` … */
  readonly reason: string;
  /** Before this many ms the same refusal is certain; undefined when nobody knows. */
  readonly retryAfterMs: number | undefined;
  /** Always false: a refusal is never sent. */
  readonly sent = false;

  constructor(dependency: string, operation: string, refusal: Rejected) {
    super(`${dependency}.${operation}: refused by ${refusal.by} (${refusal.reason})`);
    this.dependency = dependency;
    this.operation = operation;
    this.by = refusal.by;
    this.reason = refusal.reason;
    this.retryAfterMs = refusal.retryAfterMs;
  }
}

/** A reply came, and `validating` found it wanting. */
export class UnsoundReplyError extends PlimsollError {
  override readonly name = "UnsoundReplyError";
  readonly code = "PLIMSOLL_UNSOUND";
  /** Whether something is missing, or something is wrong. */
  readonly flaw: "partial" | "corrupt";
  /** The reply as it came: a fallback may make something of a partial one. */
  readonly reply: unknown;

  constructor(dependency: string, operation: string, flaw: "partial" | "corrupt", reply: unknown) {
    super(`${dependency}.${operation}: the reply is ${flaw}`);
    this.flaw = flaw;
    this.reply = reply;
  }
}

/** The caller cancelled and gave no reason of its own. Named as the platform names it. */
export class CancelledError extends PlimsollError {
  override readonly name = "AbortError";
  readonly code = "PLIMSOLL_CANCELLED";

  constructor() {
    super("the call was cancelled");
  }
}

/** A wrong option, found when a guard is made: names the field, the value and what is allowed. */
export class OptionError extends PlimsollError {
  override readonly name = "OptionError";
  readonly code = "PLIMSOLL_OPTION";
  readonly field: string;

  constructor(field: string, value: unknown, allowed: string) {
    super(`${field} is ${show(value)}; allowed: ${allowed}`);
    this.field = field;
  }
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  return String(value);
}
