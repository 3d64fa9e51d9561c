/**
 * Marks pg's own errors with what they mean to the guards. The error itself stays as it is: whoever catches it finds
 * pg's fields, and the classes of pg.
 */
import type { Attempt } from "../../core/attempt.ts";
import { rejected } from "../../core/call.ts";
import { type ClassifiedError, FAILURE } from "../../core/classify.ts";
import { RefusedError } from "../../core/errors.ts";
import { meaningOf } from "./sqlstate.ts";

type Failure = ClassifiedError[typeof FAILURE];

/** What is known about a statement that failed. */
export interface Circumstances {
  /** Whether this attempt has made something permanent before. */
  readonly committed: boolean;
  /** Whether it would have become permanent by itself: by no transaction being open, or by being its COMMIT. */
  readonly final: boolean;
  /** Whether the connection was lost. */
  readonly lost: boolean;
  /** Which of our limits the server has applied, if it was one. */
  readonly ended: "timeout" | "clipped" | undefined;
}

/** The code of an error that the server has sent; undefined for any other. (`EPIPE` has five characters too.) */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === "string" && typeof severity === "string" ? code : undefined;
}

/** What the failure of a statement means. */
export function failureOf(error: unknown, { committed, final, lost, ended }: Circumstances): Failure {
  const code = sqlStateOf(error);
  if (code === undefined) {
    const effect = lost && !final && !committed ? "none" : "unknown";
    // What is not the server's word, nor a lost connection, is a fault of the program, in its values or its types.
    return { class: lost ? "transient" : "permanent", effect };
  }
  const { class: failureClass, effect } = meaningOf(code);
  const undone = effect === "none" || (effect === "session" && !final);
  return { class: failureClass, effect: undone && !committed ? "none" : "unknown", ended };
}

/** What it means that no connection came about: nothing was sent. */
export function connectFailure(error: unknown): Failure {
  const code = sqlStateOf(error);
  const failureClass = code === undefined ? "transient" : meaningOf(code).class;
  const unsent = { class: failureClass, effect: "none", ended: "unsent" } as const;
  return failureClass === "permanent" ? { ...unsent, pushback: "never" } : unsent;
}

/** The pool was closed. */
export const CLOSED: Failure = { class: "permanent", effect: "none", ended: "unsent", pushback: "never" };

/** Puts the mark on an error. It may be the same error for several statements: the last word counts. */
export function mark<E>(error: E, failure: Failure): E {
  if (typeof error === "object" && error !== null && Object.isExtensible(error)) {
    Object.defineProperty(error, FAILURE, { value: failure, configurable: true });
  }
  return error;
}

/** The error of a statement that is not sent because the attempt has no time left. */
export function tooLate({ call }: Attempt, committed: boolean): RefusedError {
  const refusal = rejected("deadline", "too little time left to send");
  const error = new RefusedError(call.dependency, call.operation, refusal);
  return mark(error, { class: "transient", effect: committed ? "unknown" : "none", ended: "clipped" });
}
