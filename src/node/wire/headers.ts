/**
 * The headers by which one hop tells the next about a call, besides the time left; lower case, as Node gives them.
 * Nobody has standardised criticality and tenant: these names are ours, and only a trusted peer is believed.
 */
import type { Criticality } from "../../core/call.ts";

/** Which attempt of its call a request is, from 1 (Envoy). */
export const ATTEMPT_COUNT = "x-envoy-attempt-count";
/** In a reply: this must not be retried (Envoy). */
export const OVERLOADED = "x-envoy-overloaded";
/** In a refusal: the work was not started, so a repeat cannot do it twice. */
export const NOT_EXECUTED = "x-plimsoll-not-executed";
/** How essential the call is: one of the four words of `Criticality`. */
export const CRITICALITY = "x-plimsoll-criticality";
/** Whose work it is, percent-encoded. */
export const TENANT = "x-plimsoll-tenant";
/** The same on every attempt of a write (draft-ietf-httpapi-idempotency-key-header-07). */
export const IDEMPOTENCY_KEY = "idempotency-key";

const LEVELS: readonly string[] = [
  "criticalPlus",
  "critical",
  "sheddablePlus",
  "sheddable",
] satisfies Criticality[];

/** A longer tenant is nobody's name. */
const MAX_TENANT = 256;

/** The level that a header names; undefined when it names none. */
export function parseCriticality(value: string | undefined): Criticality | undefined {
  return value !== undefined && LEVELS.includes(value) ? (value as Criticality) : undefined;
}

/** A tenant as a header value. */
export function encodeTenant(tenant: string): string {
  return encodeURIComponent(tenant);
}

/** The tenant that a header names; undefined when it cannot be read. */
export function parseTenant(value: string | undefined): string | undefined {
  if (value === undefined || value.length > MAX_TENANT || !/^[!-+\--~]+$/.test(value)) return undefined;
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** An idempotency key as the draft writes it (a quoted structured-field string), or bare as most peers do. */
export function encodeIdempotencyKey(key: string, spelling: "quoted" | "bare"): string {
  if (!/^[!-~](?:[ -~]*[!-~])?$/.test(key)) {
    throw new TypeError(
      "an idempotency key is 1 or more printable ASCII characters, with no space at its ends",
    );
  }
  return spelling === "bare" ? key : `"${key.replace(/["\\]/g, "\\$&")}"`;
}
