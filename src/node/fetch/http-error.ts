/**
 * A reply with a status of 400 or above, as an error that says what it means to the guards.
 *
 * Two questions are kept apart. May a repeat help? 408, 425 and most 5xx: later, perhaps; 429, 503 and 529: when
 * there is less to do; any other 4xx and the 5xx that speak of the request itself: no. May it have changed
 * something? A 4xx is a refusal, so no; 425 and Cloudflare's "never reached the origin" say no; any other 5xx, and a
 * plain 429 or 503, may come from a hop behind the one that did the work, so nobody knows, unless the peer says
 * `x-plimsoll-not-executed: true`.
 * Sources: RFC 9110 §15, RFC 8470 (425), RFC 6585 (429), Cloudflare's 52x; 501 and 505 as in Azure's own client.
 */
import type { Failed } from "../../core/call.ts";
import { type ClassifiedError, FAILURE } from "../../core/classify.ts";
import { limitStacks } from "../../core/errors.ts";
import { NOT_EXECUTED } from "../wire/headers.ts";
import { rateLimitResetMs } from "../wire/rate-limit-reset.ts";
import { type HeaderReader, pushbackOf, toldToRetry } from "../wire/retry-after.ts";

/** What an `HttpError` says to the guards. */
export type HttpFailure = ClassifiedError[typeof FAILURE];

type Meaning = Pick<Failed, "class" | "effect">;

const PERMANENT: Meaning = { class: "permanent", effect: "none" };
const TRANSIENT: Meaning = { class: "transient", effect: "unknown" };
const THROTTLING: Meaning = { class: "throttling", effect: "unknown" };
const NOT_REACHED: Meaning = { class: "transient", effect: "none" };

const BY_STATUS: ReadonlyMap<number, Meaning> = new Map([
  [408, TRANSIENT],
  [425, NOT_REACHED],
  [429, THROTTLING],
  [499, { class: "permanent", effect: "unknown" }], // a proxy gave up; nobody knows about the work behind it
  [501, PERMANENT],
  [503, THROTTLING],
  [505, PERMANENT],
  [506, PERMANENT],
  [508, PERMANENT],
  [510, PERMANENT],
  [511, PERMANENT],
  [521, NOT_REACHED], // 522 is not here: it is also sent when the request had reached the origin
  [523, NOT_REACHED],
  [525, NOT_REACHED],
  [526, PERMANENT],
  [529, THROTTLING],
]);

/** What a status and its headers mean for attempt `number`; `now` in ms since 1970, for dates. */
export function failureOf(status: number, headers: HeaderReader, number: number, now: number): HttpFailure {
  let { class: kind, effect } = BY_STATUS.get(status) ?? (status < 500 ? PERMANENT : TRANSIENT);
  if (kind === "permanent" && toldToRetry(headers)) {
    kind = "transient";
    effect = "unknown";
  }
  if (headers.get(NOT_EXECUTED) === "true") effect = "none";
  // A 408 is worth one new connection, not a series of them (RFC 9110 §9.2.2: no retry of a failed automatic retry).
  const told = status === 408 && number > 1 ? "never" : pushbackOf(headers, now);
  // Many send their quota with every reply: it answers the question only where it is the reason.
  const pushback = told ?? (kind === "throttling" ? rateLimitResetMs(headers, now) : undefined);
  return { class: kind, effect, pushback };
}

/** The peer answered, with a status of 400 or above. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly headers: Headers;
  /** The beginning of the reply's body, as text; empty when it was long or slow. */
  readonly body: string;
  /** What it means to the guards. */
  readonly failure: HttpFailure;

  /** `what` names the request in the message. */
  constructor(what: string, response: Response, body: string, failure: HttpFailure) {
    const limit = Error.stackTraceLimit;
    limitStacks(0);
    super(`${what}: ${response.status}`);
    limitStacks(limit);
    this.status = response.status;
    this.headers = response.headers;
    this.body = body;
    this.failure = failure;
    Object.defineProperty(this, FAILURE, { value: failure });
  }
}
