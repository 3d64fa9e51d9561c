/**
 * What an error of the AWS SDK for JavaScript (v3) means. Its families decide, throttling before transient: several
 * throttles come as a 400, which would else pass for a wrong request. A throttled call was turned away; of a transient
 * one nobody knows what it did.
 *
 * Sources: @smithy/core 3.41 `service-error-classification` (codes and statuses); AWS SDK retry behaviour 2.1
 * (`x-amz-retry-after`, in ms).
 */
import type { Judge } from "../leaf.ts";
import { MAX_TIMER_MS } from "../runtime.ts";
import { field, judgeBy, type Meaning, NOT_EXECUTED, REFUSED, TRANSIENT, TURNED_AWAY } from "./meaning.ts";

/** Error names that mean "less, please". */
export const AWS_THROTTLING: readonly string[] = [
  "BandwidthLimitExceeded",
  "EC2ThrottledException",
  "LimitExceededException",
  "PriorRequestNotComplete",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "SlowDown",
  "ThrottledException",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
  "TransactionInProgressException",
];

/** Error names that mean "later". */
export const AWS_TRANSIENT: readonly string[] = ["TimeoutError", "RequestTimeout", "RequestTimeoutException"];

const TRANSIENT_STATUS: readonly unknown[] = [500, 502, 503, 504];

/** What an error of the SDK means; undefined where it is none of a service's: a lost connection has no status. */
export function awsMeaning(error: unknown): Meaning | undefined {
  const metadata = field(error, "$metadata");
  if (metadata === undefined) return undefined;
  const row = rowOf(error, metadata);
  if (row === REFUSED && field(metadata, "httpStatusCode") === undefined) return undefined;
  const waitMs = retryAfterMs(error);
  return waitMs === undefined || row === REFUSED ? row : { ...row, pushback: waitMs };
}

/** Judges what a call of the AWS SDK gave: `classify: judgeAws`. */
export const judgeAws: Judge = judgeBy(awsMeaning);

function rowOf(error: unknown, metadata: unknown): Meaning {
  const [name, retryable] = [field(error, "name"), field(error, "$retryable")];
  const status = field(metadata, "httpStatusCode");
  if (status === 429 || isOneOf(AWS_THROTTLING, name) || field(retryable, "throttling") === true)
    return TURNED_AWAY;
  if (isOneOf(AWS_TRANSIENT, name) || TRANSIENT_STATUS.includes(status) || retryable !== undefined)
    return TRANSIENT;
  // Refused for the clock of this machine, by which the SDK goes no more.
  return field(metadata, "clockSkewCorrected") === true ? NOT_EXECUTED : REFUSED;
}

function isOneOf(names: readonly string[], name: unknown): boolean {
  return typeof name === "string" && names.includes(name);
}

/** Whole ms of nothing but digits; anything else was not said. */
function retryAfterMs(error: unknown): number | undefined {
  const headers = field(field(error, "$response"), "headers");
  const value = field(headers, "x-amz-retry-after");
  return typeof value === "string" && /^[0-9]{1,15}$/.test(value)
    ? Math.min(Number(value), MAX_TIMER_MS)
    : undefined;
}
