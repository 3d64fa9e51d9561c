/**
 * A shield: a step that must be finished although its caller has gone, such as a commit that is under way.
 *
 * Cancelling is right for reads and for work that has not begun. A step that may already have taken effect is finished
 * instead, and what came of it is reconciled: the caller is answered at once when it gives up, and `reconcile` hears how
 * the step ended. What goes on without a caller is work that nobody waits for, so it is bounded like everything else:
 * in number, and in time. Source: the resilience notes, §02 ("some irreversible work may need to finish and reconcile
 * even after the caller leaves").
 */
import { Gate } from "../core/bulkhead/machine.ts";
import { Call, type Outcome, ok, PLAIN_CALL, rejected } from "../core/call.ts";
import { classify } from "../core/classify.ts";
import { OptionError, RefusedError, TimeoutError } from "../core/errors.ts";
import { checkFunction, checkKeys, checkMs } from "../core/options.ts";
import type { Runtime } from "../core/runtime.ts";
import { ambient, outsideRequest, theHost } from "./host.ts";

/** Options of `shield`. A is what `reconcile` needs to know about a step: an id, mostly. */
export interface ShieldOptions<A, T> {
  /** Stands in errors and events; not empty. */
  readonly name: string;
  /** Steps that may be under way at once, 1 to 1,000,000, whole. No default: it must be measured. */
  readonly limit: number;
  /** How long a step may take before its own signal fires, in ms, 1 to 2^31 − 1. No default. */
  readonly timeoutMs: number;
  /** Hears how a step ended whose caller had gone, or that took too long. What it throws is reported as uncaught. */
  readonly reconcile: (about: A, outcome: Outcome<T>) => void;
}

/** What one step says about itself. */
export interface ShieldedCall<A> {
  /** What `reconcile` is told. */
  readonly about: A;
  /** The caller's signal: when it fires, the caller is answered with its reason. Default: the request served here. */
  readonly signal?: AbortSignal | undefined;
}

/** A step: it gets a signal that fires when it has taken `timeoutMs`, and for no other reason. */
export type ShieldStep<T> = (signal: AbortSignal) => T | PromiseLike<T>;

/** Runs steps that are finished whatever their callers do. */
export interface Shield<A, T> {
  /**
   * Runs a step. Rejects with the step's own error, the caller's reason, a `TimeoutError`, or a `RefusedError` when all
   * places are taken.
   */
  (step: ShieldStep<T>, call: ShieldedCall<A>): Promise<T>;
  /** Steps under way, and those among them whose caller has been answered. */
  readonly underWay: number;
  readonly orphans: number;
}

/** Makes a shield. Throws an `OptionError` for a wrong option. */
export function shield<A, T = void>(
  options: ShieldOptions<A, T>,
  runtime: Runtime = theHost().runtime,
): Shield<A, T> {
  const steps = new Steps(options, runtime);
  const run = (step: ShieldStep<T>, call: ShieldedCall<A>): Promise<T> => steps.run(step, call);
  Object.defineProperty(run, "underWay", { get: () => steps.gate.held });
  Object.defineProperty(run, "orphans", { get: () => steps.orphans });
  return run as Shield<A, T>;
}

class Steps<A, T> {
  readonly gate: Gate;
  orphans = 0;
  private readonly options: ShieldOptions<A, T>;
  private readonly runtime: Runtime;
  private readonly call: Call;

  constructor(options: ShieldOptions<A, T>, runtime: Runtime) {
    checkKeys("shield", options, ["name", "limit", "timeoutMs", "reconcile"]);
    const { name } = options;
    if (typeof name !== "string" || name === "")
      throw new OptionError("shield.name", name, "a text that is not empty");
    this.gate = new Gate(options.limit, "shield.limit");
    checkMs("shield.timeoutMs", options.timeoutMs, { min: 1 });
    checkFunction("shield.reconcile", options.reconcile);
    this.options = { ...options };
    this.runtime = runtime;
    this.call = new Call({ dependency: name, operation: "step", idempotent: false }, PLAIN_CALL, Infinity, 0);
  }

  async run(step: ShieldStep<T>, call: ShieldedCall<A>): Promise<T> {
    checkFunction("step", step);
    checkKeys("call", call, ["about", "signal"]);
    const { signal = ambient()?.signal } = call;
    if (signal !== undefined && typeof signal?.addEventListener !== "function")
      throw new OptionError("call.signal", signal, "an AbortSignal");
    if (signal?.aborted) throw signal.reason;
    if (!this.gate.free) throw new RefusedError(this.options.name, "step", rejected("shield", "full"));
    this.gate.take();
    return new Promise((resolve, reject) => this.follow(step, call.about, signal, resolve, reject));
  }

  /** Answers when the step ends, its caller leaves or its time is over, whichever is first; and sees it to its end. */
  private follow(
    step: ShieldStep<T>,
    about: A,
    signal: AbortSignal | undefined,
    resolve: (value: T) => void,
    reject: (reason: unknown) => void,
  ): void {
    const { timeoutMs } = this.options;
    const own = new AbortController();
    let waited = true;
    const answerWithout = (reason: unknown): void => {
      if (!waited) return;
      waited = false;
      this.orphans++;
      reject(reason);
    };
    const leave = (): void => answerWithout(signal?.reason);
    signal?.addEventListener("abort", leave, { once: true });
    const timer = this.runtime.after(timeoutMs, () => {
      const error = new TimeoutError(this.call, timeoutMs, false);
      answerWithout(error);
      own.abort(error);
    });
    const end = (outcome: Outcome<T>): void => {
      this.runtime.cancel(timer);
      signal?.removeEventListener("abort", leave);
      this.gate.release();
      if (!waited) return this.reconcile(about, outcome);
      waited = false;
      if (outcome.kind === "ok") resolve(outcome.value);
      else reject((outcome as { error: unknown }).error);
    };
    // The calls that it makes are its own: the request's deadline and signal do not reach them.
    outsideRequest(() => new Promise<T>((done) => done(step(own.signal)))).then(
      (value) => end(ok(value)),
      (error) => end(classify({ error }) as Outcome<T>),
    );
  }

  private reconcile(about: A, outcome: Outcome<T>): void {
    this.orphans--;
    try {
      this.options.reconcile(about, outcome);
    } catch (error) {
      this.runtime.uncaught(error);
    }
  }
}
