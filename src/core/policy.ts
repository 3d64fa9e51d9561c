/**
 * Policies by name: a dependency, what its operations share, and each operation in the library's own order. Plain
 * options in, a bound stack out. The promise shell and the simulator both start here, so both run the same objects.
 */

import { AdaptiveThrottleGuard, adaptiveThrottle } from "./adaptive-throttle/guard.ts";
import type { AdaptiveThrottleOptions } from "./adaptive-throttle/machine.ts";
import type { Admission } from "./admission.ts";
import type { Admitter } from "./admitter.ts";
import { breaker, KeyedBreakers } from "./breaker/guard.ts";
import { CircuitBreaker } from "./breaker/machine.ts";
import { type BreakerOptions, BreakerPolicy } from "./breaker/options.ts";
import type { Budget } from "./budget/budget.ts";
import { type BudgetSpec, budgetOf } from "./budget/presets.ts";
import { Bulkhead, type BulkheadOptions } from "./bulkhead/guard.ts";
import { KeyedBulkheads } from "./bulkhead/keyed.ts";
import type { CallFields } from "./call.ts";
import { coalesce } from "./coalesce/guard.ts";
import type { CoalesceOptions } from "./coalesce/machine.ts";
import { OptionError } from "./errors.ts";
import { fallback } from "./fallback/guard.ts";
import type { FallbackOption } from "./fallback/options.ts";
import { hedge } from "./hedge/guard.ts";
import type { HedgeOptions } from "./hedge/machine.ts";
import type { PerKeyOptions } from "./keyed/per-key.ts";
import type { Judge } from "./leaf.ts";
import {
  checkBoolean,
  checkFunction,
  checkKeys,
  checkMs,
  checkObject,
  checkOneOf,
  orDefault,
} from "./options.ts";
import { partialBreaker } from "./partial-breaker/guard.ts";
import type { PartialBreakerOptions } from "./partial-breaker/machine.ts";
import type { Answer, CallProcess } from "./progress.ts";
import { KeyedRateLimits, RateLimit, type RateLimitOptions } from "./rate-limit/guard.ts";
import { retry } from "./retry/guard.ts";
import type { RetryOptions } from "./retry/machine.ts";
import type { Runtime } from "./runtime.ts";
import { type Guard, type Perform, Stack } from "./stack.ts";
import { timeout } from "./timeout/guard.ts";

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

const OPERATION_KEYS = [
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

/** A dependency as seen by one process. */
export class DependencyPolicy {
  readonly name: string;
  readonly runtime: Runtime;
  /** Its cap; null without one, and where there is one for each key. */
  readonly bulkhead: Bulkhead | null;
  /** Its caps by key, or null. */
  readonly bulkheads: KeyedBulkheads | null;
  readonly budget: Budget | null;
  /** Its quota; null without one, and where there is one for each key. */
  readonly rateLimit: RateLimit | null;
  /** Its quotas by key, or null. */
  readonly rateLimits: KeyedRateLimits | null;
  readonly adaptiveThrottle: AdaptiveThrottleGuard | null;
  private readonly performWork: Perform;

  constructor(options: DependencyOptions, runtime: Runtime, perform: Perform) {
    checkKeys("dependency", options, ["name", "bulkhead", "rateLimit", "adaptiveThrottle", "budget"]);
    this.name = checkName("dependency.name", options.name);
    this.runtime = runtime;
    this.performWork = perform;
    const { bulkhead: cap, rateLimit: quota, adaptiveThrottle: throttle, budget = {} } = options;
    const capped = cap === undefined ? null : capOf(cap, runtime, `${this.name}.bulkhead`);
    this.bulkhead = capped instanceof Bulkhead ? capped : null;
    this.bulkheads = capped instanceof Bulkhead ? null : capped;
    const limited = quota === undefined ? null : quotaOf(quota, `${this.name}.rateLimit`);
    this.rateLimit = limited instanceof RateLimit ? limited : null;
    this.rateLimits = limited instanceof RateLimit ? null : limited;
    this.adaptiveThrottle =
      throttle === undefined
        ? null
        : new AdaptiveThrottleGuard(throttle, runtime, this.name, `${this.name}.adaptiveThrottle`);
    this.budget = budget === "none" ? null : budgetOf(budget, `${this.name}.budget`);
  }

  /** Binds an operation. `generators` is for comparison only. */
  operation(name: string, options: OperationOptions = {}, generators = false): OperationPolicy {
    return new OperationPolicy(
      this,
      checkName(`${this.name}: operation name`, name),
      options,
      this.performWork,
      generators,
    );
  }
}

/** One operation, bound: its stack and what can be seen of its guards. */
export class OperationPolicy {
  readonly dependency: DependencyPolicy;
  readonly name: string;
  readonly stack: Stack;
  /** The operation's breaker; null without one, and where there is one for each key. */
  readonly breaker: CircuitBreaker | null;
  /** Its breakers by key, or null. */
  readonly breakers: KeyedBreakers | null;
  private readonly totalTimeoutMs: number;

  constructor(
    dependency: DependencyPolicy,
    name: string,
    options: OperationOptions,
    perform: Perform,
    generators: boolean,
  ) {
    const field = `${dependency.name}.${name}`;
    checkKeys(field, options, OPERATION_KEYS);
    const { idempotent = false, totalTimeoutMs, minUsefulMs, classify: judge } = options;
    checkBoolean(`${field}.idempotent`, idempotent);
    if (options.decides !== undefined) checkDecides(options, field);
    if (options.breaker !== undefined && options.partialBreaker !== undefined)
      throw new OptionError(`${field}.partialBreaker`, options.partialBreaker, "nothing beside a breaker");
    this.dependency = dependency;
    this.name = name;
    if (options.breaker !== undefined) checkObject(`${field}.breaker`, options.breaker);
    const { perKey, ...rest } = options.breaker ?? {};
    const settled = options.breaker === undefined ? null : new BreakerPolicy(rest, `${field}.breaker`);
    this.breaker = settled === null || perKey !== undefined ? null : new CircuitBreaker(settled);
    this.breakers =
      settled === null || perKey === undefined
        ? null
        : new KeyedBreakers(settled, perKey, `${field}.breaker.perKey`);
    this.totalTimeoutMs =
      totalTimeoutMs === undefined
        ? Infinity
        : checkMs(`${field}.totalTimeoutMs`, totalTimeoutMs, { min: 1 });
    const settings = {
      runtime: dependency.runtime,
      dependency: dependency.name,
      operation: name,
      idempotent,
      budget: options.retry === undefined && options.hedge === undefined ? null : dependency.budget,
      minUsefulMs: checkMs(`${field}.minUsefulMs`, orDefault(minUsefulMs, 0)),
      perform,
      judge: judge === undefined ? null : checkFunction(`${field}.classify`, judge),
      generators,
    };
    this.stack = new Stack(settings, this.guards(options, field));
  }

  /**
   * Starts a call that ends at `deadline` (absolute, `Infinity` for none) or after the total timeout; `outer` is the
   * attempt in the course of which it is made.
   */
  start(
    work: unknown,
    fields: CallFields,
    deadline: number,
    answer: Answer | null,
    outer: Admission | null = null,
  ): CallProcess {
    const now = this.dependency.runtime.now();
    const until = Math.min(deadline, now + this.totalTimeoutMs);
    return this.stack.startAt(now, work, fields, until, answer, outer);
  }

  /** The library's own order. */
  private guards(options: OperationOptions, field: string): Guard[] {
    const guards: Guard[] = [];
    if (options.fallback !== undefined) guards.push(fallback(options.fallback, `${field}.fallback`));
    if (options.coalesce !== undefined) guards.push(coalesce(options.coalesce, `${field}.coalesce`));
    if (options.retry !== undefined) guards.push(retry(options.retry, `${field}.retry`));
    if (options.hedge !== undefined) guards.push(hedge(options.hedge, `${field}.hedge`));
    if (this.breaker !== null) guards.push(breaker(this.breaker));
    else if (this.breakers !== null) guards.push(this.breakers);
    if (options.partialBreaker !== undefined)
      guards.push(partialBreaker(options.partialBreaker, `${field}.partialBreaker`));
    const { adaptiveThrottle: shared, runtime } = this.dependency;
    const quota = this.dependency.rateLimit ?? this.dependency.rateLimits;
    const cap = this.dependency.bulkhead ?? this.dependency.bulkheads;
    if (shared !== null) guards.push(bound(shared));
    if (options.adaptiveThrottle !== undefined)
      guards.push(adaptiveThrottle(options.adaptiveThrottle, `${field}.adaptiveThrottle`));
    if (quota !== null) guards.push(bound(quota));
    if (options.rateLimit !== undefined) guards.push(bound(quotaOf(options.rateLimit, `${field}.rateLimit`)));
    if (cap !== null) guards.push(bound(cap));
    if (options.bulkhead !== undefined)
      guards.push(bound(capOf(options.bulkhead, runtime, `${field}.bulkhead`)));
    if (options.attemptTimeoutMs !== undefined) {
      guards.push(timeout(options.attemptTimeoutMs, `${field}.attemptTimeoutMs`));
    }
    return guards;
  }
}

/** A substitute for "may they?" or "is it whole?" is a guess: better no answer (the resilience notes, §16). */
function checkDecides({ decides, fallback }: OperationOptions, field: string): void {
  checkOneOf(`${field}.decides`, decides, ["authorization", "integrity"]);
  if (fallback !== undefined)
    throw new OptionError(`${field}.fallback`, fallback, `nothing: its answer decides on ${decides}`);
}

/** One cap, or one for each key. */
function capOf(options: BulkheadOptions & ByKey, runtime: Runtime, field: string): Bulkhead | KeyedBulkheads {
  checkObject(field, options);
  const { perKey, ...cap } = options;
  return perKey === undefined
    ? new Bulkhead(cap, runtime, field)
    : new KeyedBulkheads(cap, perKey, runtime, field);
}

/** One quota, or one for each key. */
function quotaOf(options: RateLimitOptions & ByKey, field: string): RateLimit | KeyedRateLimits {
  checkObject(field, options);
  const { perKey, ...quota } = options;
  return perKey === undefined ? new RateLimit(quota, field) : new KeyedRateLimits(quota, perKey, field);
}

/** A guard that is bound already: to its dependency. */
function bound(layer: Admitter & { readonly name: string }): Guard {
  return { name: layer.name, bind: () => layer };
}

function checkName(field: string, name: unknown): string {
  if (typeof name === "string" && name !== "") return name;
  throw new OptionError(field, name, "a string that is not empty");
}
