// A program of the contract's fuzz: plain data, so that it can be printed, shrunk and run again. `maker.ts` makes them.
import type { BreakerMode, BudgetSpec } from "../../src/core/index.ts";

/** Something a callback of the user's does besides its duty. `call` −1 is the call it is about. */
export type Deed =
  /** "begin": the callee says that it has begun on whatever works for the call. */
  | { readonly do: "cancel" | "end" | "begin"; readonly call: number }
  /** Within the attempt that does it, if an attempt does. */
  | { readonly do: "start"; readonly call: number; readonly within: boolean }
  | { readonly do: "throw" }
  | { readonly do: "resize"; readonly bulkhead: number; readonly limit: number };

/** The places where a call's callbacks run: its answer, its classifier, its fallback, its abort listener, an event. */
export type Site = "answer" | "classify" | "fallback" | "abort" | (typeof EVENTS)[number];

export const EVENTS = [
  "attempt.queued",
  "attempt.refused",
  "attempt.sent",
  "attempt.answered",
  "attempt.abandoned",
  "attempt.ended",
  "retry.scheduled",
  "retry.stopped",
  "hedge.stopped",
  "fallback.used",
  "call.joined",
  "call.answered",
] as const;

export const RESULTS = [
  "ok",
  "degraded",
  "transient",
  "throttled",
  "told",
  "permanent",
  "unsent",
  "unclassified",
] as const;

/** When a work says that its callee has begun on it. */
export const MOMENTS = ["start", "later", "end", "afterEnd", "abort"] as const;

/** What a piece of work does. */
export interface WorkSpec {
  readonly how: "sync" | "async" | "never" | "throws";
  readonly afterMs: number;
  readonly result: (typeof RESULTS)[number];
  /** Reports a second end, which must change nothing. */
  readonly twice: boolean;
  /** Whether it hears that it is given up, and how long after that it ends; null: it ignores it. */
  readonly listens: "no" | "onAbort" | "signal";
  readonly obeysAfterMs: number | null;
  /** How long its body outlives its end. */
  readonly holdMs: number | null;
  /** When it says that its callee has begun. */
  readonly begins: readonly (typeof MOMENTS)[number][];
  /** How many destinations it chooses from, each time it chooses. */
  readonly chooses: readonly number[];
  /** Done when it starts. */
  readonly deed: Deed | null;
}

/** One guard for each key, of which this many are kept. */
export interface KeysSpec {
  readonly by: "key" | "tenant";
  readonly maxKeys: number;
  readonly idleMs: number;
}

export interface LiveDelaySpec {
  readonly percentile: number;
  readonly windowMs: number;
  readonly minSamples: number;
  readonly minMs: number;
}

export interface HedgeSpec {
  readonly kind: "hedge";
  readonly delayMs: number | LiveDelaySpec;
  readonly attempts: number;
  readonly quietMs: number;
  readonly onFailure: "stop" | "next";
  readonly tied: boolean;
}

export interface FallbackSpec {
  readonly kind: "fallback";
  readonly how: "run" | "stale" | "default" | "elsewhere";
  readonly reserveMs: number;
  readonly timeoutMs: number;
  readonly permanent: boolean;
  readonly exercise: number;
  /** For the stale kind. */
  readonly maxAgeMs: number;
  readonly work: WorkSpec;
}

export interface CoalesceSpec {
  readonly kind: "coalesce";
  readonly maxWaiting: number;
  readonly maxFlights: number;
  readonly shareFailuresMs: number;
}

/** A guard that decides at once. `of` counts in the program's list of that kind. */
export type AdmitterSpec =
  | { readonly kind: "breaker" | "bulkhead" | "rate"; readonly of: number }
  | ({ readonly kind: "breakers" | "bulkheads" | "rates"; readonly of: number } & KeysSpec)
  | {
      readonly kind: "throttle";
      readonly k: number;
      readonly windowMs: number;
      readonly maxRefused: number;
      readonly rejects: "overload" | "failures";
    }
  | { readonly kind: "partial"; readonly intervalMs: number; readonly rise: number; readonly fall: number };

export type GuardSpec =
  | { readonly kind: "retry"; readonly attempts: number; readonly waits: readonly number[] | "jitter" }
  | HedgeSpec
  | FallbackSpec
  | CoalesceSpec
  | AdmitterSpec
  | { readonly kind: "deadline" | "timeout"; readonly ms: number };

export interface StackSpec {
  readonly idempotent: boolean;
  readonly budget: number | null;
  readonly minUsefulMs: number;
  readonly guards: readonly GuardSpec[];
  /** What its backoff function does at its n-th use. */
  readonly backoffDeeds: readonly { readonly nth: number; readonly deed: Deed }[];
}

export interface CallSpec {
  readonly stack: number;
  /** When it is started; null: only if a callback starts it. */
  readonly at: number | null;
  /** Whether it is started from inside the loop, as by a callback. */
  readonly nested: boolean;
  readonly withinMs: number | null;
  /** Whether it has an idempotency key. */
  readonly keyed: boolean;
  readonly tenant: string;
  readonly key: string;
  readonly bytes: number;
  readonly cancelAfterMs: number | null;
  readonly works: readonly WorkSpec[];
  readonly deeds: readonly { readonly site: Site; readonly nth: number; readonly deed: Deed }[];
}

/** A limit that learns, between `min` and `max`. */
export interface LearningSpec {
  readonly kind: "aimd" | "latencyAimd";
  readonly initial: number;
  readonly min: number;
  readonly max: number;
}

export interface BulkheadSpec {
  readonly limit: number | LearningSpec;
  readonly maxBytes: number | null;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  readonly maxWaitingBytes: number | null;
  readonly reclaimMs: number | null;
  readonly holds: "handler" | "subtree";
}

export interface BreakerSpec {
  readonly window: { readonly calls: number } | { readonly ms: number };
  readonly minimumCalls: number;
  readonly failureRate: number;
  readonly slowCallMs: number | null;
  readonly consecutiveFailures: number | null;
  readonly openMs: number;
  readonly rampMs: number;
  readonly probes: number;
  readonly probeTimeoutMs: number | null;
  readonly probeLeaseMs: number;
}

export interface RateSpec {
  readonly limit: number;
  readonly windowMs: number;
  readonly burst: number;
  /** Whether a call costs one more for each of its bytes. */
  readonly costly: boolean;
}

export interface Program {
  readonly seed: number;
  readonly bulkheads: readonly BulkheadSpec[];
  readonly breakers: readonly BreakerSpec[];
  readonly rates: readonly RateSpec[];
  readonly budgets: readonly BudgetSpec[];
  readonly stacks: readonly StackSpec[];
  readonly calls: readonly CallSpec[];
  /** What an operator does. */
  readonly acts: readonly ({ readonly at: number } & (
    | { readonly resize: number; readonly limit: number }
    | { readonly mode: BreakerMode; readonly breaker: number }
  ))[];
}
