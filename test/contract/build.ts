// The real guards, stacks and machines that a program asks for.
import {
  type Admitter,
  type Attempt,
  adaptiveThrottle,
  aimd,
  BreakerPolicy,
  type Budget,
  breaker,
  budgetOf,
  bulkhead,
  CircuitBreaker,
  type CoalesceGuard,
  coalesce,
  deadline,
  defaultValue,
  elsewhere,
  fallback,
  fullJitter,
  type Guard,
  hedge,
  type Judge,
  KeyedBreakers,
  KeyedBulkheads,
  KeyedRateLimits,
  type Layer,
  latencyAimd,
  partialBreaker,
  RateLimit,
  type Runtime,
  rateLimit,
  retry,
  Stack,
  stale,
  timeout,
} from "../../src/core/index.ts";
import { isAdmitter } from "./guards.ts";
import type {
  AdmitterSpec,
  BreakerSpec,
  BulkheadSpec,
  CoalesceSpec,
  FallbackSpec,
  GuardSpec,
  KeysSpec,
  Program,
  RateSpec,
  StackSpec,
} from "./program.ts";
import { type Hears, Spy, WatchedBulkhead } from "./watched.ts";

/** What the default fallback answers with. */
export const DEFAULT = { work: "default" };

/** What a work of the fuzz returns: it reports its end itself. */
export const OURS: unique symbol = Symbol("ours");

/** What guards do with what is not theirs. */
export interface Hooks {
  judge: Judge;
  substitute(spec: FallbackSpec, attempt: Attempt): typeof OURS;
  backoff(stack: StackSpec, nth: number): void;
  hears(spec: AdmitterSpec, stack: number): Hears;
}

/** A guard that has a stack to itself, to be looked at. */
export interface Own<S, M> {
  readonly stack: number;
  readonly spec: S;
  readonly machine: M;
}

const bulkheadOptions = (spec: BulkheadSpec) => {
  const { limit, maxBytes, maxWaiting, maxWaitMs, maxWaitingBytes, reclaimMs, holds } = spec;
  return {
    limit: typeof limit === "number" ? limit : learnt(limit),
    queue: { maxWaiting, maxWaitMs, maxBytes: maxWaitingBytes ?? Infinity },
    maxBytes: maxBytes ?? Infinity,
    reclaimAbandonedAfterMs: reclaimMs ?? Infinity,
    holds,
  };
};

function learnt({ kind, ...bounds }: Exclude<BulkheadSpec["limit"], number>) {
  return kind === "aimd" ? aimd(bounds) : latencyAimd({ ...bounds, intervalMs: 10, minSamples: 2 });
}

function breakerPolicy(spec: BreakerSpec): BreakerPolicy {
  const { slowCallMs, consecutiveFailures, probeTimeoutMs, ...options } = spec;
  return new BreakerPolicy({
    ...options,
    ...(slowCallMs === null ? {} : { slowCallMs }),
    ...(consecutiveFailures === null ? {} : { consecutiveFailures }),
    ...(probeTimeoutMs === null ? {} : { probeTimeoutMs }),
  });
}

const rateOptions = ({ limit, windowMs, burst, costly }: RateSpec) => ({
  limit,
  windowMs,
  burst,
  ...(costly ? { cost: ({ bytes }: { bytes: number }) => 1 + bytes } : {}),
});

const keys = ({ by, maxKeys, idleMs }: KeysSpec) => ({ by, maxKeys, idleMs });

/** Everything a program is made of, once. */
export class Parts {
  readonly bulkheads: readonly WatchedBulkhead[];
  readonly breakers: readonly CircuitBreaker[];
  readonly rates: readonly RateLimit[];
  readonly budgets: readonly Budget[];
  readonly stacks: readonly Stack[];
  readonly flights: Own<CoalesceSpec, CoalesceGuard>[] = [];
  readonly keyedBulkheads: Own<AdmitterSpec & { kind: "bulkheads" }, KeyedBulkheads>[] = [];
  readonly keyedBreakers: Own<AdmitterSpec & { kind: "breakers" }, KeyedBreakers>[] = [];
  readonly keyedRates: Own<AdmitterSpec & { kind: "rates" }, KeyedRateLimits>[] = [];
  readonly #program: Program;
  readonly #runtime: Runtime;
  readonly #hooks: Hooks;

  constructor(program: Program, runtime: Runtime, hooks: Hooks, generators: boolean) {
    this.#program = program;
    this.#runtime = runtime;
    this.#hooks = hooks;
    this.bulkheads = program.bulkheads.map((spec) => {
      const made = new WatchedBulkhead(bulkheadOptions(spec), runtime);
      made.mostBytes = spec.maxBytes ?? Infinity;
      return made;
    });
    this.breakers = program.breakers.map((spec) => new CircuitBreaker(breakerPolicy(spec)));
    this.rates = program.rates.map((spec) => new RateLimit(rateOptions(spec)));
    this.budgets = program.budgets.map((spec) => budgetOf(spec));
    this.stacks = program.stacks.map((spec, index) => this.#stack(spec, index, generators));
  }

  #stack(spec: StackSpec, index: number, generators: boolean): Stack {
    const { idempotent, minUsefulMs, budget } = spec;
    return new Stack(
      {
        runtime: this.#runtime,
        dependency: "stock",
        operation: `s${index}`,
        idempotent,
        minUsefulMs,
        budget: budget === null ? null : (this.budgets[budget] as Budget),
        perform: (attempt, work) => {
          const given = (work as (attempt: Attempt) => unknown)(attempt);
          if (given !== OURS) attempt.succeed(given);
        },
        judge: this.#hooks.judge,
        generators,
      },
      spec.guards.map((guard) => this.#guard(guard, spec, index)),
    );
  }

  #guard(guard: GuardSpec, stack: StackSpec, index: number): Guard {
    if (isAdmitter(guard)) return this.#watched(guard, index);
    if (guard.kind === "retry") return this.#retry(guard, stack);
    if (guard.kind === "deadline") return deadline(guard.ms);
    if (guard.kind === "timeout") return timeout(guard.ms);
    if (guard.kind === "fallback") return this.#fallback(guard);
    if (guard.kind === "hedge") {
      const { kind: _, ...options } = guard;
      return hedge(options);
    }
    return this.#coalesce(guard as CoalesceSpec, index);
  }

  #coalesce(spec: CoalesceSpec, stack: number): Guard {
    const { kind: _, ...options } = spec;
    return seen(coalesce(options), (layer) => {
      this.flights.push({ stack, spec, machine: layer as CoalesceGuard });
      return layer;
    });
  }

  #watched(spec: AdmitterSpec, stack: number): Guard {
    const hears = this.#hooks.hears(spec, stack);
    return seen(this.#admitter(spec, stack), (layer) => new Spy(layer as Admitter, hears));
  }

  #admitter(spec: AdmitterSpec, stack: number): Guard {
    const { bulkheads, breakers, rates } = this.#program;
    if (spec.kind === "breaker") return breaker(this.breakers[spec.of] as CircuitBreaker);
    if (spec.kind === "bulkhead") return bulkhead(this.bulkheads[spec.of] as WatchedBulkhead);
    if (spec.kind === "rate") return rateLimit(this.rates[spec.of] as RateLimit);
    if (spec.kind === "breakers") {
      const policy = breakerPolicy(breakers[spec.of] as BreakerSpec);
      const machine = new KeyedBreakers(policy, keys(spec), "breakers");
      this.keyedBreakers.push({ stack, spec: { ...spec, kind: "breakers" }, machine });
      return machine;
    }
    if (spec.kind === "bulkheads") {
      const options = bulkheadOptions(bulkheads[spec.of] as BulkheadSpec);
      const machine = new KeyedBulkheads(options, keys(spec), this.#runtime, "bulkheads");
      this.keyedBulkheads.push({ stack, spec: { ...spec, kind: "bulkheads" }, machine });
      return { name: "bulkhead", bind: () => machine };
    }
    if (spec.kind === "rates") {
      const machine = new KeyedRateLimits(rateOptions(rates[spec.of] as RateSpec), keys(spec), "rates");
      this.keyedRates.push({ stack, spec: { ...spec, kind: "rates" }, machine });
      return { name: "rateLimit", bind: () => machine };
    }
    if (spec.kind === "throttle") {
      const { kind: _, ...options } = spec;
      return adaptiveThrottle(options);
    }
    const { intervalMs, rise, fall } = spec as AdmitterSpec & { kind: "partial" };
    return partialBreaker({ intervalMs, rise, fall });
  }

  #fallback(spec: FallbackSpec): Guard {
    const { how, reserveMs, timeoutMs, permanent, exercise, maxAgeMs } = spec;
    const common = { reserveMs, timeoutMs, permanent };
    const run = (_because: unknown, attempt: Attempt): unknown => this.#hooks.substitute(spec, attempt);
    if (how === "elsewhere") return fallback(elsewhere(run, common));
    if (how === "default") return fallback(defaultValue(DEFAULT, { ...common, exercise }));
    if (how === "stale") return fallback(stale({ ...common, exercise, maxAgeMs, maxKeys: 4 }));
    return fallback({ ...common, exercise, run });
  }

  #retry(guard: GuardSpec & { kind: "retry" }, stack: StackSpec): Guard {
    const { attempts, waits } = guard;
    if (waits === "jitter") return retry({ attempts, backoff: fullJitter({ baseMs: 8, capMs: 30 }) });
    let uses = 0;
    const backoff = (repeat: number): number => {
      this.#hooks.backoff(stack, uses++);
      return waits[Math.min(repeat, waits.length) - 1] as number;
    };
    return retry({ attempts, backoff });
  }
}

/** The same guard, whose layer is seen when it is bound. */
function seen(guard: Guard, see: (layer: Layer) => Layer): Guard {
  return { name: guard.name, bind: (at) => see(guard.bind(at)) };
}
