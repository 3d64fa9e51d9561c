/** What replies and errors of an HTTP client mean to the guards, and whether a body lets a request be repeated at all. */
import type { Attempt } from "../../core/attempt.ts";
import { rejected } from "../../core/call.ts";
import { FAILURE } from "../../core/classify.ts";
import { PlimsollError, RefusedError } from "../../core/errors.ts";
import { failureOf, type HttpFailure } from "../fetch/http-error.ts";
import type { HeaderReader } from "../wire/retry-after.ts";

/** The beginning of a reply. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: HeaderReader;
}

/** A body that can be sent once is not sent again: the second time it would be empty, or the second half. */
export function canRepeat(body: unknown): boolean {
  if (body == null || typeof body === "string") return true;
  return (
    ArrayBuffer.isView(body) ||
    body instanceof ArrayBuffer ||
    body instanceof Blob ||
    body instanceof FormData ||
    body instanceof URLSearchParams
  );
}

/** What a reply of 400 or above means. */
export function meaningOf(
  { status, headers }: ReplyHead,
  attempt: Attempt,
  repeatable: boolean,
): HttpFailure {
  const meaning = failureOf(status, headers, attempt.number, Date.now());
  return repeatable ? meaning : { ...meaning, pushback: "never" };
}

/** The same error, which says that its request is not repeated if its body cannot be. */
export function unrepeatable(error: unknown, repeatable: boolean): Error {
  if (error instanceof PlimsollError || repeatable) return error as Error;
  return mark(error, { class: "transient", effect: "unknown", pushback: "never" });
}

/** The same error, which says that the client has refused to send: the arguments are wrong, and stay so. */
export function neverSent(error: unknown): Error {
  return mark(error, { class: "permanent", effect: "none", ended: "unsent", pushback: "never" });
}

/** The error of a hedge whose body is being sent already: nothing was sent, and it is nobody's fault. */
export function neverTwice({ call }: Attempt): Error {
  const refusal = rejected("hedge", "the body can be sent once");
  const error = new RefusedError(call.dependency, call.operation, refusal);
  return mark(error, { class: "transient", effect: "none", ended: "clipped", pushback: "never" });
}

function mark(error: unknown, meaning: object): Error {
  return Object.defineProperty(Object(error), FAILURE, { value: meaning, configurable: true });
}

/** A response's headers as Node gives them, to be read by name. Values of the same name are joined, as `Headers` joins them. */
export function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): HeaderReader {
  return {
    get(name) {
      const value = headers[name];
      if (value === undefined) return null;
      return Array.isArray(value) ? value.join(", ") : value;
    },
  };
}
