/**
 * Policies by name: a dependency, what its operations share, and each operation in the library's own order. Plain
 * options in, a bound stack out. The promise shell and the simulator both start here, so both run the same objects.
 */

import { AdaptiveThrottleGuard, adaptiveThrottle } from "./adaptive-throttle/guard.ts";
import type { Admission } from "./admission.ts";
import type { Admitter } from "./admitter.ts";
import { breaker, KeyedBreakers } from "./breaker/guard.ts";
import { CircuitBreaker } from "./breaker/machine.ts";
import { BreakerPolicy } from "./breaker/options.ts";
import type { Budget } from "./budget/budget.ts";
import { budgetOf } from "./budget/presets.ts";
import { Bulkhead, type BulkheadOptions } from "./bulkhead/guard.ts";
import { KeyedBulkheads } from "./bulkhead/keyed.ts";
import type { CallFields } from "./call.ts";
import { coalesce } from "./coalesce/guard.ts";
import { OptionError } from "./errors.ts";
import { fallback } from "./fallback/guard.ts";
import { hedge } from "./hedge/guard.ts";
import { checkFunction, checkKeys, checkMs, checkObject, orDefault } from "./options.ts";
import { partialBreaker } from "./partial-breaker/guard.ts";
import {
  type ByKey,
  checkOperation,
  type DependencyOptions,
  type OperationOptions,
} from "./policy-options.ts";
import type { Answer, CallProcess } from "./progress.ts";
import { KeyedRateLimits, RateLimit, type RateLimitOptions } from "./rate-limit/guard.ts";
import { retry } from "./retry/guard.ts";
import type { Runtime } from "./runtime.ts";
import { type Guard, type Perform, Stack } from "./stack.ts";
import { timeout } from "./timeout/guard.ts";

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
    checkOperation(options, field);
    const { idempotent = false, totalTimeoutMs, minUsefulMs, classify: judge } = options;
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
