/** What errors of a Redis client mean to the guards. The error itself stays as it is: ioredis's own, or a refusal. */
import type { Attempt } from "../../core/attempt.ts";
import { type Rejected, rejected } from "../../core/call.ts";
import { field } from "../../core/classifiers/meaning.ts";
import { type ClassifiedError, FAILURE } from "../../core/classify.ts";
import { RefusedError } from "../../core/errors.ts";

type Failure = ClassifiedError[typeof FAILURE];

/** Too many attempts wait for a connection. */
export const QUEUE_FULL: Rejected = rejected("connection", "queue full");
/** No connection came about in time. */
export const WAITED_TOO_LONG: Rejected = rejected("connection", "waited too long");
/** The client was closed, or has given up reconnecting. */
export const CLOSED: Rejected = rejected("connection", "closed");
/** The connection on which the attempt began is gone. */
export const LOST: Rejected = rejected("connection", "lost");
/** Nothing is sent in the last ms of an attempt. */
export const TOO_LATE: Rejected = rejected("deadline", "too little time left to send");

/** The command was written, and its connection is gone: nobody knows whether it was executed. */
export const NO_REPLY: Failure = { class: "transient", effect: "unknown" };

/** Whether the server has said this. */
export function isReply(error: unknown): boolean {
  return field(error, "name") === "ReplyError";
}

/**
 * The same error, for one command alone. All that wait on a connection are rejected with one object when it is lost:
 * what one call makes of it, that it has given up on it above all, would be said of the others too.
 */
export function ownError<E extends Error>(error: E): E {
  if (isReply(error) || !(error instanceof Error)) return error;
  const copy = Object.setPrototypeOf(new Error(error.message), Object.getPrototypeOf(error));
  return Object.defineProperties(copy, Object.getOwnPropertyDescriptors(error));
}

/** Puts the mark on an error. */
export function mark<E>(error: E, failure: Failure): E {
  return Object.defineProperty(Object(error), FAILURE, { value: failure, configurable: true });
}

/** The error of an attempt that is refused by `refusal` before it has done anything, or in its course. */
export function refused({ call }: Attempt, refusal: Rejected, failure: Failure): RefusedError {
  return mark(new RefusedError(call.dependency, call.operation, refusal), failure);
}

/** Nothing was sent: another attempt may find a connection. */
export const UNSENT: Failure = { class: "transient", effect: "none", ended: "unsent" };
/** Nothing was sent, nor will it be. */
export const UNSENT_FOR_GOOD: Failure = { ...UNSENT, pushback: "never" };
/** Nothing was sent, because the call's time is over. */
export const CLIPPED: Failure = { class: "transient", effect: "none", ended: "clipped" };
