/**
 * What a peer says about trying again: wait this long, never, or nothing.
 *
 * Every value is read by its grammar, and what does not fit is *absent*: NaN, a negative number or 2^31 ms in a
 * timer is an instant retry in Node, which is how a garbled header becomes a storm. Invariant: a wait is a finite
 * number within 0 … 2^31 − 1 ms. Two header lines arrive here joined by a comma, fit no grammar, and so count as
 * absent. Dates are taken against the reply's own `Date`, so the peer's clock may be wrong.
 * Sources: RFC 9110 §10.2.3; gRPC A6 (a negative or unreadable pushback means "do not retry"); the headers of
 * Azure and OpenAI (`retry-after-ms`), AWS (`x-amz-retry-after`), Envoy and Stripe.
 */
import type { Pushback } from "../../core/call.ts";
import { grpcPushback } from "../../core/classifiers/grpc.ts";
import { MAX_TIMER_MS } from "../../core/runtime.ts";
import { parseHttpDate } from "./http-date.ts";

/** Headers that are already a number of ms, in the order in which they are believed; all before `Retry-After`. */
const MS_HEADERS = ["retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after"];

/** By their presence alone they say "do not retry". */
const OVERLOAD_HEADERS = ["x-envoy-overloaded", "x-envoy-ratelimited"];

/** They say it by `true` or `false`. */
const SHOULD_RETRY_HEADERS = ["x-should-retry", "stripe-should-retry"];

/** What is asked of a reply's headers; a `Headers` will do. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** The peer's word: ms to wait at least, `never`, or undefined. The time is in ms since 1970. */
export function pushbackOf(headers: HeaderReader, now: number): Pushback | undefined {
  const asked = headers.get("grpc-retry-pushback-ms");
  const grpc = grpcPushback(asked === null ? [] : [asked]);
  if (grpc === "never" || toldNever(headers)) return "never";
  for (const name of MS_HEADERS) {
    const ms = digits(headers.get(name));
    if (ms !== undefined) return ms;
  }
  return grpc ?? retryAfterMs(headers.get("retry-after"), headers.get("date"), now);
}

/** Whether the peer asks for a retry in so many words. It does not stand against any "never". */
export function toldToRetry(headers: HeaderReader): boolean {
  return SHOULD_RETRY_HEADERS.some((name) => headers.get(name) === "true");
}

/**
 * `Retry-After` as ms from now: whole seconds, or an HTTP date in any of its three forms, against the reply's `date`
 * when that can be read. A date in the past is 0. Anything else is undefined.
 */
export function retryAfterMs(value: string | null, date: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const seconds = digits(value);
  if (seconds !== undefined) return Math.min(seconds * 1000, MAX_TIMER_MS);
  const at = parseHttpDate(value, now);
  if (at === undefined) return undefined;
  const sent = date === null ? undefined : parseHttpDate(date, now);
  return Math.min(Math.max(0, at - (sent ?? now)), MAX_TIMER_MS);
}

function toldNever(headers: HeaderReader): boolean {
  return (
    OVERLOAD_HEADERS.some((name) => headers.get(name) !== null) ||
    SHOULD_RETRY_HEADERS.some((name) => headers.get(name) === "false")
  );
}

/** A number of nothing but digits, never above the longest timer. */
function digits(value: string | null): number | undefined {
  return value !== null && /^[0-9]{1,20}$/.test(value) ? Math.min(Number(value), MAX_TIMER_MS) : undefined;
}
