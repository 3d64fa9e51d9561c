/** The options of a dependency and of its operations: which guards there are, each with options of its own. */
import type { AdaptiveThrottleOptions } from "./adaptive-throttle/machine.ts";
import type { BreakerOptions } from "./breaker/options.ts";
import type { BudgetSpec } from "./budget/presets.ts";
import type { BulkheadOptions } from "./bulkhead/guard.ts";
import type { CoalesceOptions } from "./coalesce/machine.ts";
import { OptionError } from "./errors.ts";
import type { FallbackOption } from "./fallback/options.ts";
import type { HedgeOptions } from "./hedge/machine.ts";
import type { PerKeyOptions } from "./keyed/per-key.ts";
import type { Judge } from "./leaf.ts";
import { checkBoolean, checkKeys, checkObject, checkOneOf, orDefault } from "./options.ts";
import type { PartialBreakerOptions } from "./partial-breaker/machine.ts";
import type { RateLimitOptions } from "./rate-limit/guard.ts";
import type { RetryOptions } from "./retry/machine.ts";

/** What all operations of a dependency share. */
export interface DependencyOptions {
  /** Names it in errors and events; not empty. */
  readonly name: string;
  /** Caps its calls in flight. Default: no cap, since a limit must be measured. */
  readonly bulkhead?: BulkheadOptions & ByKey;
  /** Keeps a quota towards it. Default: none. */
  readonly rateLimit?: RateLimitOptions & ByKey;
  /** Refuses a part of its calls while it is refusing; `{}` for all defaults. Default: none. */
  readonly adaptiveThrottle?: AdaptiveThrottleOptions;
  /** What retries and hedges of its operations spend. Default `{}`: 10 % and a burst of 10; "none" switches it off. */
  readonly budget?: BudgetSpec | "none";
}

/** For a guard of which there may be one for each key. */
export interface ByKey {
  /** One for each key of the calls, in place of one for all; `{}` for all defaults. Default: one for all. */
  readonly perKey?: PerKeyOptions;
}

/** How one operation is guarded. A guard that is left out is not there. */
export interface OperationOptions {
  /** Whether repeating it has the same effect as doing it once. Default false: only keyed calls are repeated. */
  readonly idempotent?: boolean;
  /** How long one attempt may take, in ms, 1 to 2^31 − 1; about 2 × the healthy P99.9. No default: measure it. */
  readonly attemptTimeoutMs?: number;
  /** How long the whole call may take, waits and backoffs included, in ms, 1 to 2^31 − 1. No default. */
  readonly totalTimeoutMs?: number;
  /** An attempt is not started with less time left than this, in ms, 0 to 2^31 − 1. Default 0. */
  readonly minUsefulMs?: number;
  /** Lets calls with the same `key` share one; `{}` for all defaults. Only for what is idempotent. Default: none. */
  readonly coalesce?: CoalesceOptions;
  /** Repeats failed attempts; `{}` for all defaults. */
  readonly retry?: RetryOptions;
  /** Stops calls to what plainly fails; `{}` for all defaults. */
  readonly breaker?: BreakerOptions & ByKey;
  /** In place of a breaker: refuses as large a share of the calls as the failures ask for; `{}` for all defaults. */
  readonly partialBreaker?: PartialBreakerOptions;
  /** A cap of its own, beside the dependency's. */
  readonly bulkhead?: BulkheadOptions & ByKey;
  /** A quota of its own, beside the dependency's. */
  readonly rateLimit?: RateLimitOptions & ByKey;
  /** A throttle of its own, beside the dependency's. */
  readonly adaptiveThrottle?: AdaptiveThrottleOptions;
  /** Sends a second attempt when the first is slow. Only for what is idempotent. */
  readonly hedge?: HedgeOptions;
  /** Answers when all of that was not enough. */
  readonly fallback?: FallbackOption;
  /**
   * What its answer decides, where a substitute would be an answer nobody gave: such an operation takes no fallback.
   * Default: nothing of the kind.
   */
  readonly decides?: "authorization" | "integrity";
  /** Your own judgement of what the work gave. Default: the library's own. */
  readonly classify?: Judge;
}

const OPERATION_KEYS: readonly string[] = [
  "idempotent",
  "attemptTimeoutMs",
  "totalTimeoutMs",
  "minUsefulMs",
  "coalesce",
  "retry",
  "breaker",
  "partialBreaker",
  "adaptiveThrottle",
  "rateLimit",
  "bulkhead",
  "hedge",
  "fallback",
  "decides",
  "classify",
];

/** Checks what no guard checks for itself. Throws an `OptionError` that names the field. */
export function checkOperation(options: OperationOptions, field: string): void {
  checkKeys(field, options, OPERATION_KEYS);
  checkBoolean(`${field}.idempotent`, orDefault(options.idempotent, false));
  if (options.decides !== undefined) checkDecides(options, field);
  if (options.breaker !== undefined) checkObject(`${field}.breaker`, options.breaker);
  if (options.breaker !== undefined && options.partialBreaker !== undefined)
    throw new OptionError(`${field}.partialBreaker`, options.partialBreaker, "nothing beside a breaker");
}

/** A substitute for "may they?" or "is it whole?" is a guess: better no answer (the resilience notes, §16). */
function checkDecides({ decides, fallback }: OperationOptions, field: string): void {
  checkOneOf(`${field}.decides`, decides, ["authorization", "integrity"]);
  if (fallback !== undefined)
    throw new OptionError(`${field}.fallback`, fallback, `nothing: its answer decides on ${decides}`);
}
