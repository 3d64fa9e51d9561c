/**
 * The promise shell: `dependency({...}).operation(name, {...})` gives a function that runs your work under guards.
 *
 * It adds nothing but promises: a call is started, and its exit becomes a value, an error or an outcome. A refusal
 * made at once is answered from here, without waiting for anything.
 */
import type { AdaptiveThrottleGuard } from "../core/adaptive-throttle/guard.ts";
import type { Attempt } from "../core/attempt.ts";
import type { KeyedBreakers } from "../core/breaker/guard.ts";
import type { CircuitBreaker } from "../core/breaker/machine.ts";
import type { Budget } from "../core/budget/budget.ts";
import type { Bulkhead } from "../core/bulkhead/guard.ts";
import type { KeyedBulkheads } from "../core/bulkhead/keyed.ts";
import { type Exit, type Failed, type Outcome, PLAIN_CALL, type Rejected } from "../core/call.ts";
import { RefusedError } from "../core/errors.ts";
import type { DefaultFallback, ElsewhereFallback, FallbackOptions } from "../core/fallback/options.ts";
import type { Judge } from "../core/leaf.ts";
import { DependencyPolicy, type OperationPolicy } from "../core/policy.ts";
import type { DependencyOptions, OperationOptions } from "../core/policy-options.ts";
import type { Answer, CallProcess } from "../core/progress.ts";
import type { KeyedRateLimits, RateLimit } from "../core/rate-limit/guard.ts";
import type { Runtime } from "../core/runtime.ts";
import { plain } from "../core/timed-out.ts";
import { type CallOptions, checkCall, fieldsOf } from "./call-options.ts";
import { type Ambient, ambient, theHost } from "./host.ts";
import { giveUpOn } from "./nested-retries.ts";
import { performPromise, type Work } from "./perform.ts";
import { follow, unfollow } from "./signals.ts";

/** A raw HTTP response is not a result: a 503 would count as a success. Read it, or give the operation a classifier. */
export type NotRaw<T> = T extends { readonly status: number; readonly headers: object; clone(): unknown }
  ? "read the response first, or give the operation `classify`"
  : T;

/** A guarded operation: call it with your work. `F` is what its fallback gives; `Raw` whether it has a classifier. */
export interface Operation<F = never, Raw = false> {
  /** Runs the work under the operation's guards. Rejects with the work's own error, or one of Plimsoll's. */
  <T>(work: Work<Raw extends true ? T : NotRaw<T> & T>, options?: CallOptions): Promise<T | F>;
  /** The same without throwing, and it tells a whole answer from a degraded one. Rejects only if cancelled. */
  outcome<T>(
    work: Work<Raw extends true ? T : NotRaw<T> & T>,
    options?: CallOptions,
  ): Promise<Outcome<T | F>>;
  /** Its breaker's state, to look at or to force; null without one, and where there is one for each key. */
  readonly breaker: CircuitBreaker | null;
  /** Its breakers by key; null without them. */
  readonly breakers: KeyedBreakers | null;
  /** Attempts that were given up and still run; a fallback's, too. */
  readonly abandoned: number;
}

/** A dependency of this process. */
export interface Dependency {
  readonly name: string;
  /** The cap shared by its operations; null without one, and where there is one for each key. */
  readonly bulkhead: Bulkhead | null;
  /** Its caps by key; null without them. */
  readonly bulkheads: KeyedBulkheads | null;
  /** The budget shared by its operations, or null. */
  readonly budget: Budget | null;
  /** The quota shared by its operations; null without one, and where there is one for each key. */
  readonly rateLimit: RateLimit | null;
  /** Its quotas by key; null without them. */
  readonly rateLimits: KeyedRateLimits | null;
  /** The throttle shared by its operations, or null. */
  readonly adaptiveThrottle: AdaptiveThrottleGuard | null;
  /** Makes a guarded operation. Throws an `OptionError` that names the field for a wrong option. */
  operation<F = never>(name: string, options: WithFallback<F> & WithClassifier): Operation<F, true>;
  operation<F = never>(name: string, options: WithFallback<F>): Operation<F>;
  operation(name: string, options: OperationOptions & WithClassifier): Operation<never, true>;
  operation(name: string, options?: OperationOptions): Operation;
}

/** Options whose fallback gives an `F`. */
export type WithFallback<F> = OperationOptions & {
  readonly fallback:
    | ((because: Failed | Rejected, attempt: Attempt) => F | PromiseLike<F>)
    | (FallbackOptions & { run(because: Failed | Rejected, attempt: Attempt): F | PromiseLike<F> })
    | DefaultFallback<F>
    | ElsewhereFallback<F | PromiseLike<F>>;
};

/** Options with a judge of one's own. */
export type WithClassifier = { readonly classify: Judge };

/** Describes a dependency. The runtime is the process's own unless you pass one (a virtual one, in tests). */
export function dependency(options: DependencyOptions, runtime: Runtime = theHost().runtime): Dependency {
  const policy = new DependencyPolicy(options, runtime, performPromise);
  return {
    name: policy.name,
    bulkhead: policy.bulkhead,
    bulkheads: policy.bulkheads,
    budget: policy.budget,
    rateLimit: policy.rateLimit,
    rateLimits: policy.rateLimits,
    adaptiveThrottle: policy.adaptiveThrottle,
    operation: (name: string, settings: OperationOptions = {}) => operation(policy.operation(name, settings)),
  } as Dependency;
}

/** Wraps a bound policy in promises. */
export function operation(policy: OperationPolicy): Operation {
  const shell = new Shell(policy);
  const call = (work: Work<unknown>, options?: CallOptions): Promise<unknown> =>
    shell.begin(work, options, false);
  const outcome = (work: Work<unknown>, options?: CallOptions): Promise<unknown> =>
    shell.begin(work, options, true);
  Object.defineProperty(call, "abandoned", { get: () => policy.stack.abandoned });
  return Object.assign(call, {
    outcome,
    breaker: policy.breaker,
    breakers: policy.breakers,
  }) as unknown as Operation;
}

/** Starts an operation's calls. */
class Shell {
  private readonly policy: OperationPolicy;
  /** Refusals are prepared objects, mostly the same one again: so is their promise. */
  private refusal: Rejected | null = null;
  private refused: Promise<Rejected> | null = null;

  constructor(policy: OperationPolicy) {
    this.policy = policy;
  }

  begin(work: Work<unknown>, options: CallOptions | undefined, asOutcome: boolean): Promise<unknown> {
    const request = ambient();
    if (options !== undefined || request !== undefined)
      return this.beginWith(work, options, request, asOutcome);
    if (asOutcome) {
      const refusal = this.policy.stack.refusalNow();
      if (refusal !== null) return this.refuse(refusal);
    }
    return promiseOf(this.policy.start(work, PLAIN_CALL, Infinity, null), NO_SIGNALS, asOutcome);
  }

  private beginWith(
    work: Work<unknown>,
    options: CallOptions | undefined,
    request: Ambient | undefined,
    asOutcome: boolean,
  ): Promise<unknown> {
    try {
      checkCall(work, options);
    } catch (error) {
      return Promise.reject(error);
    }
    const { parent, signal, deadline = Infinity } = options ?? {};
    const signals = [signal, parent?.signal, request?.signal].filter((each) => each !== undefined);
    const fired = signals.find((each) => each.aborted);
    if (fired !== undefined) return Promise.reject(fired.reason);
    const fields = fieldsOf(options, parent?.call ?? request?.fields ?? PLAIN_CALL);
    const until = Math.min(deadline, parent?.deadline ?? Infinity, request?.deadline ?? Infinity);
    // What has ended already has no more parts.
    const outer = parent !== undefined && parent.live > 0 ? parent : null;
    return promiseOf(this.policy.start(work, fields, until, null, outer), signals, asOutcome);
  }

  /** Answers a call that was refused before it was made. */
  private refuse(refusal: Rejected): Promise<unknown> {
    if (this.refused === null || this.refusal !== refusal) {
      this.refusal = refusal;
      this.refused = Promise.resolve(refusal);
    }
    return this.refused;
  }
}

const NO_SIGNALS: readonly AbortSignal[] = [];

type Resolve = (value: unknown) => void;

/** Settles the promises of calls; each call carries its own `resolve`, with which it can also reject. */
class Settlement implements Answer {
  private readonly asOutcome: boolean;

  constructor(asOutcome: boolean) {
    this.asOutcome = asOutcome;
  }

  answered(exit: Exit, call: CallProcess): void {
    const resolve = call.back as Resolve;
    if (exit.kind === "ok" && !this.asOutcome) resolve(exit.value);
    else resolve(settled(exit, call, this.asOutcome));
  }
}

/** The same for calls that follow signals. */
class FollowingSettlement implements Answer {
  private readonly signals: readonly AbortSignal[];
  private readonly settlement: Settlement;

  constructor(signals: readonly AbortSignal[], settlement: Settlement) {
    this.signals = signals;
    this.settlement = settlement;
  }

  answered(exit: Exit, call: CallProcess): void {
    for (const signal of this.signals) unfollow(signal, call);
    this.settlement.answered(exit, call);
  }
}

const AS_OUTCOME = new Settlement(true);
const AS_VALUE = new Settlement(false);

/** The promise of a call that has just been started; settled already if the call is. */
function promiseOf(call: CallProcess, signals: readonly AbortSignal[], asOutcome: boolean): Promise<unknown> {
  if (call.exit !== null) return Promise.resolve(settled(call.exit, call, asOutcome));
  const settlement = asOutcome ? AS_OUTCOME : AS_VALUE;
  return new Promise((resolve) => {
    if (signals === NO_SIGNALS) return call.answerTo(settlement, resolve);
    call.answerTo(new FollowingSettlement(signals, settlement), resolve);
    for (const signal of signals) follow(signal, call);
    // The work has begun, and may have fired a signal before anybody followed it.
    const fired = signals.find((signal) => signal.aborted);
    if (fired !== undefined) call.cancel(fired.reason);
  });
}

/** What a promise is resolved with: a value, an outcome, or a rejection. */
function settled(exit: Exit, call: CallProcess, asOutcome: boolean): unknown {
  if (asOutcome && exit.kind !== "cancelled") return plain(exit);
  return exit.kind === "ok" ? exit.value : Promise.reject(errorOf(call, exit));
}

function errorOf({ dependency, operation }: CallProcess, exit: Exclude<Exit, { kind: "ok" }>): unknown {
  if (exit.kind === "failed") {
    if (exit.stoppedBy !== undefined) giveUpOn(exit.error);
    return exit.error;
  }
  return exit.kind === "cancelled" ? exit.reason : new RefusedError(dependency, operation, exit);
}
