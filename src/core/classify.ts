/**
 * What a result means when nobody says otherwise: a value is a whole answer; an error is looked up.
 *
 * Adapters mark their errors (`FAILURE`), Node and undici name theirs by code, and a fault of the program itself is
 * permanent. Only a failed connection proves that nothing was sent: a reset of a socket that was in use does not.
 * An error of another guarded call further down is an answer *here*: its timeout is not this attempt's timeout, and
 * its refusal must not be retried once more. Sources: the resilience notes, §01; nodejs/node#47130 (ECONNRESET on a
 * kept-alive socket says nothing about processing).
 */

import { type Failed, type FailureClass, failed, type Outcome, ok } from "./call.ts";
import { OptionError, RefusedError, TimeoutError } from "./errors.ts";
import type { Result } from "./leaf.ts";

/** The key under which an adapter's error says what it means. */
export const FAILURE: unique symbol = Symbol.for("plimsoll.failure");

/** An error that says what it means. */
export interface ClassifiedError {
  readonly [FAILURE]: Omit<Failed, "kind" | "error" | "stoppedBy">;
}

const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const TRANSIENT = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** The peer said something that is not HTTP, or less than it announced; undici and Node's parser (`HPE_…`). */
const GARBLED =
  /^(?:HPE_|UND_ERR_(?:REQ|RES)_CONTENT_LENGTH_MISMATCH$|ERR_HTTP2_(?:STREAM|SESSION)_ERROR$|ERR_STREAM_PREMATURE_CLOSE$)/;

/** No TLS session came about: nothing was sent, and the next attempt meets the same certificate. */
const UNTRUSTED =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|UNABLE_TO_(?:GET|VERIFY)_|HOSTNAME_MISMATCH$)/;

const PROGRAM_FAULTS = new Set(["TypeError", "RangeError", "ReferenceError", "SyntaxError", "AbortError"]);

/** How deep a chain of causes is followed. */
const MAX_CAUSES = 10;

const CLASSES: readonly unknown[] = [
  "transient",
  "throttling",
  "permanent",
  "unknown",
  "partial",
  "corrupt",
] satisfies FailureClass[];

const ENDS: readonly unknown[] = [undefined, "unsent", "timeout", "clipped"] satisfies Failed["ended"][];

/** The outcome of a result that nobody has judged. */
export function classify(result: Result): Outcome {
  return "error" in result ? classifyError(result.error) : ok(result.value);
}

/** Returns what a judge of the user's has said, if it can be understood; throws an `OptionError` otherwise. */
export function understood(said: Outcome | undefined): Outcome | undefined {
  if (said === undefined || said === null || said.kind === "ok") return said;
  if (said.kind === "failed" && isMeaning(said)) return said;
  throw new OptionError(
    "what classify() returned",
    said,
    "ok(), degraded() or failed() with a class that exists, or undefined: what was sent was not refused here",
  );
}

function isMeaning({ class: failureClass, ended }: Partial<Failed>): boolean {
  return CLASSES.includes(failureClass) && ENDS.includes(ended);
}

/** What was thrown may be anything: a field of it that cannot be read says nothing. */
function classifyError(error: unknown): Failed {
  try {
    return lookUp(error);
  } catch {
    return failed(error, "unknown");
  }
}

function lookUp(error: unknown): Failed {
  let cause: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof cause === "object" && cause !== null; depth++) {
    const mark = (cause as Partial<ClassifiedError>)[FAILURE];
    if (mark != null && isMeaning(mark)) return failed(error, mark.class, mark);
    if (cause instanceof TimeoutError) return failed(error, "transient");
    if (cause instanceof RefusedError)
      return failed(error, "throttling", { effect: "none", pushback: "never" });
    const { code, name } = cause as { code?: unknown; name?: unknown };
    if (typeof code === "string") {
      if (NOT_SENT.has(code) || whileConnecting(cause)) {
        return failed(error, "transient", { effect: "none", ended: "unsent" });
      }
      if (TRANSIENT.has(code) || GARBLED.test(code)) return failed(error, "transient");
      if (UNTRUSTED.test(code)) {
        return failed(error, "permanent", { effect: "none", ended: "unsent", pushback: "never" });
      }
    }
    // undici 7 gives no code to a reply that is no HTTP from its first byte.
    if (name === "HTTPParserError") return failed(error, "transient");
    cause = (cause as { cause?: unknown }).cause;
  }
  return failed(error, classOf(error));
}

/** A system call says where it failed: `ETIMEDOUT` of `connect` was never sent. Several addresses, several errors. */
function whileConnecting(error: object): boolean {
  const { syscall, errors } = error as { syscall?: unknown; errors?: unknown };
  if (syscall === "connect" || syscall === "getaddrinfo") return true;
  return Array.isArray(errors) && errors.length > 0 && errors.every((each) => whileConnecting(Object(each)));
}

function classOf(error: unknown): FailureClass {
  const name = typeof error === "object" && error !== null ? (error as { name?: unknown }).name : undefined;
  return typeof name === "string" && PROGRAM_FAULTS.has(name) ? "permanent" : "unknown";
}
