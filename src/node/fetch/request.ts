/**
 * What is sent with one attempt: the time left, the attempt's number, the idempotency key and, to listed hosts, whose
 * call it is and how essential. And the refusals that cost nothing, because nothing has been sent yet.
 */
import type { Attempt } from "../../core/attempt.ts";
import { rejected } from "../../core/call.ts";
import { FAILURE } from "../../core/classify.ts";
import { RefusedError } from "../../core/errors.ts";
import { encodeTimeLeft, type TimeLeftHeader } from "../wire/deadline-header.ts";
import {
  ATTEMPT_COUNT,
  CRITICALITY,
  encodeIdempotencyKey,
  encodeTenant,
  IDEMPOTENCY_KEY,
  TENANT,
} from "../wire/headers.ts";

/** What can be fetched: as for the platform's own `fetch`. */
export type FetchInput = string | URL | Request;

/** As for the platform's own `fetch`, but for `signal`, which is the attempt's. */
export type FetchInit = Omit<RequestInit, "signal">;

/** What a request carries, besides what its caller sets. */
export interface WireOptions {
  /** Taken off the time left before it is sent, in ms. */
  readonly marginMs: number;
  /** How `Idempotency-Key` is written. */
  readonly idempotencyKey: "quoted" | "bare";
  /** Hosts that are told the call's criticality and tenant. */
  readonly contextHosts: readonly string[];
}

const TIME_LEFT: TimeLeftHeader = "x-envoy-expected-rq-timeout-ms";

/** Makes the `init` of one attempt. Throws if there is nothing to be gained by sending it. */
export function initOf(input: FetchInput, attempt: Attempt, init: FetchInit, wire: WireOptions): RequestInit {
  if ((init as RequestInit).signal != null) {
    throw new TypeError("init.signal: give the signal to the guarded call; the request follows the attempt");
  }
  const timeLeft = timeLeftOf(attempt, wire.marginMs);
  const request = input instanceof Request ? input : null;
  const headers = new Headers(init.headers ?? request?.headers);
  refuseOurs(headers, TIME_LEFT);
  refuseOurs(headers, ATTEMPT_COUNT);
  if (timeLeft !== undefined) headers.set(TIME_LEFT, timeLeft);
  headers.set(ATTEMPT_COUNT, String(attempt.number));
  setKey(headers, attempt.call.idempotencyKey, wire.idempotencyKey);
  const known = setContext(headers, input, attempt, wire.contextHosts);
  const signal = request === null ? attempt.signal : AbortSignal.any([attempt.signal, request.signal]);
  const made: RequestInit = { ...init, headers, signal };
  // Fetch would carry these headers to wherever a redirect points.
  if (known && (init.redirect ?? request?.redirect ?? "follow") === "follow") made.redirect = "manual";
  return made;
}

function timeLeftOf(attempt: Attempt, marginMs: number): string | undefined {
  const left = attempt.timeLeftMs - marginMs;
  if (left > 0) return encodeTimeLeft(TIME_LEFT, left);
  const { dependency, operation } = attempt.call;
  const error = new RefusedError(dependency, operation, rejected("deadline", "too little time left to send"));
  throw Object.assign(error, { [FAILURE]: { class: "transient", effect: "none", ended: "clipped" } });
}

function refuseOurs(headers: Headers, name: string): void {
  if (headers.has(name)) throw new TypeError(`${name} changes with each attempt: it cannot be set by hand`);
}

function setKey(headers: Headers, key: string | undefined, spelling: "quoted" | "bare"): void {
  if (key === undefined) return;
  const mine = headers.get(IDEMPOTENCY_KEY);
  const other = spelling === "bare" ? "quoted" : "bare";
  if (mine === null) headers.set(IDEMPOTENCY_KEY, encodeIdempotencyKey(key, spelling));
  else if (mine !== encodeIdempotencyKey(key, spelling) && mine !== encodeIdempotencyKey(key, other)) {
    throw new TypeError("the header Idempotency-Key is not the call's idempotencyKey: which of them is it?");
  }
}

/** Tells a listed host about the call. Returns whether it did. */
function setContext(
  headers: Headers,
  input: FetchInput,
  attempt: Attempt,
  hosts: readonly string[],
): boolean {
  if (hosts.length === 0) return false;
  const { host, hostname } = new URL(input instanceof Request ? input.url : input);
  const listed = hosts.some((name) =>
    name.startsWith(".") ? hostname.endsWith(name) : name === host || name === hostname,
  );
  if (!listed) return false;
  const { criticality, tenant } = attempt.call;
  if (!headers.has(CRITICALITY)) headers.set(CRITICALITY, criticality);
  if (tenant !== "" && !headers.has(TENANT)) headers.set(TENANT, encodeTenant(tenant));
  return true;
}
