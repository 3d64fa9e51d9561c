/**
 * When a used-up quota is refilled, as told by the headers of rate limiters; for who gives no `Retry-After`.
 *
 * The draft standard's `RateLimit` is a structured list, each item a policy with what remains (`r`) and the seconds
 * until it resets (`t`); a policy with something left says nothing about waiting. The older forms give the reset alone,
 * as seconds from now or as seconds since 1970, and are believed only if nothing remains. What does not fit its grammar
 * is absent, as everywhere in this folder.
 * Sources: draft-ietf-httpapi-ratelimit-headers (-10: `RateLimit`; -06 and before: `RateLimit-Reset`); GitHub and others
 * (`X-RateLimit-Reset`, since 1970).
 */
import { MAX_TIMER_MS } from "../../core/runtime.ts";
import type { HeaderReader } from "./retry-after.ts";

/** The older names, with what remains beside them. */
const RESETS: readonly (readonly [reset: string, remaining: string])[] = [
  ["ratelimit-reset", "ratelimit-remaining"],
  ["x-ratelimit-reset", "x-ratelimit-remaining"],
  ["x-rate-limit-reset", "x-rate-limit-remaining"],
];

/** Seconds above this are a date: they would else be 30 years. */
const SINCE_1970 = 1_000_000_000;

/** Ms until the quota is refilled that is used up, 0 to 2^31 − 1; undefined if none is, or nothing is said. */
export function rateLimitResetMs(headers: HeaderReader, now: number): number | undefined {
  const list = headers.get("ratelimit");
  const told = list === null ? undefined : longestReset(list);
  if (told !== undefined) return told;
  for (const [name, left] of RESETS) {
    const seconds = digits(headers.get(name));
    const remaining = headers.get(left);
    if (seconds === undefined || (remaining !== null && digits(remaining) !== 0)) continue;
    const ms = seconds >= SINCE_1970 ? Math.max(0, seconds * 1000 - now) : seconds * 1000;
    return Math.min(ms, MAX_TIMER_MS);
  }
  return undefined;
}

/** An item of the list: a name in quotes, and parameters. */
const ITEM =
  /^\s*"(?:[^"\\]|\\["\\])*"((?:\s*;\s*[a-z*][a-z0-9_.*-]*(?:=(?:-?[0-9.]+|"[^"]*"|:[^:]*:|[A-Za-z*][^;,]*|\?[01]))?)*)\s*(?:,|$)/;

/** All used-up policies have to reset: the longest counts. Undefined where none is used up, or the list is malformed. */
function longestReset(list: string): number | undefined {
  let longest: number | undefined;
  for (let rest = list; rest !== ""; ) {
    const item = ITEM.exec(rest);
    if (item === null) return undefined;
    rest = rest.slice(item[0].length);
    const parameters = item[1] ?? "";
    const remaining = parameter(parameters, "r");
    const seconds = parameter(parameters, "t");
    if (remaining === undefined) return undefined;
    if (remaining === 0 && seconds !== undefined)
      longest = Math.max(longest ?? 0, Math.min(seconds * 1000, MAX_TIMER_MS));
  }
  return longest;
}

function parameter(parameters: string, name: string): number | undefined {
  const found = new RegExp(`;\\s*${name}=([0-9]{1,15})(?=\\s*(?:;|$))`).exec(parameters);
  return found === null ? undefined : Number(found[1]);
}

function digits(value: string | null): number | undefined {
  return value !== null && /^[0-9]{1,12}$/.test(value) ? Number(value) : undefined;
}
