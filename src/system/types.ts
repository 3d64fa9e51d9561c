/**
 * The system file, as plain data: services, what their operations do and call, how they are loaded, what goes wrong,
 * and the guards on each edge. It is written in TypeScript or JSON, reviewed like code, and read by both worlds:
 * the simulator builds its models from it, a real service takes the guards of its outgoing calls from it.
 *
 * Guards are spelled as in `dependency()` and `operation()`. What is a function there is a name here, and is bound
 * to code when the file is loaded.
 */

import type { AdaptiveThrottleOptions } from "../core/adaptive-throttle/machine.ts";
import type { BackoffSpec } from "../core/backoff/machine.ts";
import type { BudgetSpec } from "../core/budget/presets.ts";
import type { BulkheadOptions } from "../core/bulkhead/guard.ts";
import type { FallbackCommonOptions, FallbackSpec as FallbackKind } from "../core/fallback/options.ts";
import type { HedgeOptions } from "../core/hedge/machine.ts";
import type { OperationOptions } from "../core/policy-options.ts";
import type { RateOptions } from "../core/rate-limit/machine.ts";

/** A number, or no bound at all, which has to be typed out. */
export type Bound = number | "unbounded";

/** How long something takes. */
export type DurationSpec =
  | { readonly kind: "fixed"; readonly ms: number }
  | { readonly kind: "exponential"; readonly meanMs: number };

/** Who may wait for a place: the options of an admission queue, with its defaults. */
export interface QueueSpec {
  readonly maxWaiting: Bound;
  readonly maxWaitMs?: Bound;
  readonly maxBytes?: Bound;
}

/** One operation that a service serves. */
export interface ServedOperation {
  /** Work of its own, done before it calls anybody. Default: none. */
  readonly work?: DurationSpec;
  /** Whether it changes something. Default "read". */
  readonly effect?: "read" | "write";
  /** What it calls, in order, as `service.operation`. A place is held for all of it. */
  readonly calls?: readonly string[];
}

/** A service: some instances, each with places for requests and a queue in front of them. */
export interface ServiceSpec {
  /** Default 1. */
  readonly instances?: number;
  /** Requests that one instance works on at once. Default: no cap. */
  readonly places?: number;
  /** Who waits when all places are held. Only with `places`. Default: nobody. */
  readonly queue?: QueueSpec;
  readonly operations: Readonly<Record<string, ServedOperation>>;
}

/** What users do, and how often: open loop, arrivals at random (Poisson). */
export interface WorkloadSpec {
  /** The name of the caller, in front of `->` in edges. */
  readonly from: string;
  readonly actions: Readonly<Record<string, ActionSpec>>;
}

/** One thing that users do. */
export interface ActionSpec {
  /** `service.operation`. */
  readonly call: string;
  readonly perSecond: number;
}

/** A fallback: a function by its name, the last good answer, or a fixed value. */
export type FallbackSpec = ({ readonly run: string } & FallbackCommonOptions) | FallbackKind;

/** A cap on calls in flight. */
export interface BulkheadSpec extends Omit<BulkheadOptions, "queue" | "holds"> {
  readonly queue?: QueueSpec;
}

/** How calls of one operation are guarded: the options of `operation()`, with functions by name. */
export interface GuardSpec
  extends Omit<OperationOptions, "classify" | "fallback" | "retry" | "bulkhead" | "hedge" | "rateLimit"> {
  readonly retry?: { readonly attempts?: number; readonly backoff?: BackoffSpec; readonly only?: "unsent" };
  readonly bulkhead?: BulkheadSpec;
  readonly hedge?: HedgeOptions;
  readonly rateLimit?: RateOptions;
  readonly fallback?: string | FallbackSpec;
}

/** What travels beside a request. */
export interface WireSpec {
  /**
   * The time left that is sent along: none; the attempt's own (the smaller of its timeout and the request's time);
   * or the whole request's, which outlives the attempt.
   */
  readonly deadline: "none" | "attempt" | "request";
  /** Taken off what is sent, in ms; with no more than this left a caller stops. Default 0. */
  readonly marginMs?: number;
  /** Whether a caller that gives up says so. */
  readonly cancel: boolean;
  /** Whether the callee's 503 may be tried again by this caller, or is its last word. */
  readonly unavailable: "retryable" | "final";
  /** The same of a 504: the callee's time was over before it was done. Default "retryable". */
  readonly late?: "retryable" | "final";
}

/** The guards of one caller for one callee; keyed by `caller -> callee`. */
export interface EdgeSpec {
  readonly wire: WireSpec;
  /** Shared by the operations of the edge, per instance of the caller. */
  readonly bulkhead?: BulkheadSpec;
  /** Shared likewise. */
  readonly rateLimit?: RateOptions;
  /** Shared likewise. */
  readonly adaptiveThrottle?: AdaptiveThrottleOptions;
  /** Shared likewise. Default `{}`, the library's own; "none" switches it off. */
  readonly budget?: BudgetSpec | "none";
  readonly operations: Readonly<Record<string, GuardSpec>>;
}

/** Something that goes wrong. Seconds count from the time zero of the run. */
export type FaultSpec =
  | {
      /** Work of this service that starts in the window takes `factor` times as long. */
      readonly kind: "slow";
      readonly service: string;
      readonly factor: number;
      readonly fromS: number;
      readonly toS: number;
    }
  /** Cancels on this edge never arrive, although they are sent. */
  | { readonly kind: "cancelsLost"; readonly edge: string }
  /** Some requests on this edge get stuck on their way, by themselves, whatever the load. */
  | { readonly kind: "stall"; readonly edge: string; readonly probability: number; readonly ms: number };

/** A system file. */
export interface SystemFile {
  /** The version of this format. */
  readonly version: 1;
  readonly name: string;
  readonly description?: string;
  readonly workload: WorkloadSpec;
  readonly services: Readonly<Record<string, ServiceSpec>>;
  readonly edges: Readonly<Record<string, EdgeSpec>>;
  readonly faults?: readonly FaultSpec[];
}
