/**
 * Policies by name: a dependency, what its operations share, and each operation in the library's own order. Plain
 * options in, a bound stack out. The promise shell and the simulator both start here, so both run the same objects.
 */

import { breaker } from "./breaker/guard.ts";
import { CircuitBreaker } from "./breaker/machine.ts";
import { type BreakerOptions, BreakerPolicy } from "./breaker/options.ts";
import type { Budget } from "./budget/budget.ts";
import { type BudgetSpec, budgetOf } from "./budget/presets.ts";
import { Bulkhead, type BulkheadOptions, bulkhead } from "./bulkhead/guard.ts";
import type { CallFields } from "./call.ts";
import { OptionError } from "./errors.ts";
import { type FallbackFunction, type FallbackOptions, fallback } from "./fallback/guard.ts";
import { hedge } from "./hedge/guard.ts";
import type { HedgeOptions } from "./hedge/machine.ts";
import type { Judge } from "./leaf.ts";
import { checkFunction, checkKeys, checkMs, orDefault } from "./options.ts";
import type { Answer, CallProcess } from "./progress.ts";
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
  readonly bulkhead?: BulkheadOptions;
  /** What retries and hedges of its operations spend. Default `{}`: 10 % and a burst of 10; "none" switches it off. */
  readonly budget?: BudgetSpec | "none";
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
  /** Repeats failed attempts; `{}` for all defaults. */
  readonly retry?: RetryOptions;
  /** Stops calls to what plainly fails; `{}` for all defaults. */
  readonly breaker?: BreakerOptions;
  /** A cap of its own, beside the dependency's. */
  readonly bulkhead?: BulkheadOptions;
  /** Sends a second attempt when the first is slow. Only for what is idempotent. */
  readonly hedge?: HedgeOptions;
  /** Answers when all of that was not enough. */
  readonly fallback?: FallbackFunction | FallbackOptions;
  /** Your own judgement of what the work gave. Default: the library's own. */
  readonly classify?: Judge;
}

const OPERATION_KEYS = [
  "idempotent",
  "attemptTimeoutMs",
  "totalTimeoutMs",
  "minUsefulMs",
  "retry",
  "breaker",
  "bulkhead",
  "hedge",
  "fallback",
  "classify",
];

/** A dependency as seen by one process. */
export class DependencyPolicy {
  readonly name: string;
  readonly runtime: Runtime;
  readonly bulkhead: Bulkhead | null;
  readonly budget: Budget | null;
  private readonly performWork: Perform;

  constructor(options: DependencyOptions, runtime: Runtime, perform: Perform) {
    checkKeys("dependency", options, ["name", "bulkhead", "budget"]);
    this.name = checkName("dependency.name", options.name);
    this.runtime = runtime;
    this.performWork = perform;
    const { bulkhead: cap, budget = {} } = options;
    this.bulkhead = cap === undefined ? null : new Bulkhead(cap, runtime, `${this.name}.bulkhead`);
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
  /** The operation's breaker, or null. */
  readonly breaker: CircuitBreaker | null;
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
    if (typeof idempotent !== "boolean")
      throw new OptionError(`${field}.idempotent`, idempotent, "true or false");
    this.dependency = dependency;
    this.name = name;
    this.breaker =
      options.breaker === undefined
        ? null
        : new CircuitBreaker(new BreakerPolicy(options.breaker, `${field}.breaker`));
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

  /** Starts a call that ends at `deadline` (absolute, `Infinity` for none) or after the total timeout. */
  start(work: unknown, fields: CallFields, deadline: number, answer: Answer | null): CallProcess {
    const now = this.dependency.runtime.now();
    const until = Math.min(deadline, now + this.totalTimeoutMs);
    return this.stack.startAt(now, work, fields, until, answer);
  }

  /** The library's own order. */
  private guards(options: OperationOptions, field: string): Guard[] {
    const guards: Guard[] = [];
    if (options.fallback !== undefined) guards.push(fallback(options.fallback, `${field}.fallback`));
    if (options.retry !== undefined) guards.push(retry(options.retry, `${field}.retry`));
    if (options.hedge !== undefined) guards.push(hedge(options.hedge, `${field}.hedge`));
    if (this.breaker !== null) guards.push(breaker(this.breaker));
    if (this.dependency.bulkhead !== null) guards.push(bulkhead(this.dependency.bulkhead));
    if (options.bulkhead !== undefined) guards.push(bulkhead(options.bulkhead, `${field}.bulkhead`));
    if (options.attemptTimeoutMs !== undefined) {
      guards.push(timeout(options.attemptTimeoutMs, `${field}.attemptTimeoutMs`));
    }
    return guards;
  }
}

function checkName(field: string, name: unknown): string {
  if (typeof name === "string" && name !== "") return name;
  throw new OptionError(field, name, "a string that is not empty");
}
