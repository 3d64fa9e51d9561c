/** The breaker as an admitter: asks `machine.ts`, hands out permits, and reports changes of state. */
import type { Admission } from "../admission.ts";
import type { Admitter, Asking, Permit } from "../admitter.ts";
import { type Rejected, rejected } from "../call.ts";
import { callEvent, guardEvent } from "../events.ts";
import type { Evidence } from "../evidence.ts";
import { PerKey, type PerKeyOptions } from "../keyed/per-key.ts";
import type { Runtime } from "../runtime.ts";
import type { Binding, Guard } from "../stack.ts";
import { type BreakerState, CircuitBreaker, type Closed, type Open, type Verdict } from "./machine.ts";
import { type BreakerOptions, BreakerPolicy } from "./options.ts";
import { Passing, Probing } from "./permits.ts";

const PROBING = rejected("breaker", "half-open, probes are out");
const RAMPING = rejected("breaker", "closed lately, a part of the calls passes");
const FORCED = rejected("breaker", "forced open");
/** Given to calls that pass although the breaker would refuse them: they are no evidence. */
const NO_EVIDENCE: Permit = { settle() {}, release() {} };

/** One refusal serves a whole open period; its hint is worked out when somebody reads it. */
function openRefusal(open: Open, runtime: Runtime): Rejected {
  return {
    kind: "rejected",
    by: "breaker",
    reason: "open",
    get retryAfterMs() {
      return Math.max(0, open.until - runtime.now());
    },
  };
}

/** Where a breaker stands: the same for all breakers of an operation. */
export interface BreakerPlace {
  readonly runtime: Runtime;
  readonly random: () => number;
  readonly dependency: string;
  readonly operation: string;
}

/** A breaker in a run. */
export class BreakerGuard implements Admitter {
  readonly machine: CircuitBreaker;
  readonly at: BreakerPlace;
  private passing: Passing | null = null;
  /** The refusal of the last open period, or null. */
  private refusing: { readonly open: Open; readonly refusal: Rejected } | null = null;
  /** Decides whether the next call passes while it comes back by a ramp; uniform in [0, 1). */
  private draw: number;

  constructor(machine: CircuitBreaker, at: BreakerPlace) {
    this.machine = machine;
    this.at = at;
    this.draw = machine.policy.rampMs > 0 ? at.random() : 0;
  }

  get name(): "breaker" {
    return "breaker";
  }

  get timed(): true {
    return true;
  }

  get mayRefuse(): boolean {
    const { mode, state } = this.machine;
    if (mode !== "enforce") return mode === "forcedOpen";
    return state.name !== "closed" || (this.machine.policy.rampMs > 0 && state.since !== null);
  }

  check(asking: Asking, now: number): Rejected | null {
    const { machine } = this;
    if (machine.mode !== "enforce") return machine.mode === "forcedOpen" ? FORCED : null;
    if (machine.state.name === "closed") return this.ramping(machine.state, now) ? RAMPING : null;
    const answer = machine.ask(now);
    if (answer === "probe" && asking.kind !== "hedge") return null;
    return machine.state.name === "open" && answer === "refuse" ? this.openRefusal(machine.state) : PROBING;
  }

  take(admission: Admission, now: number): Permit {
    const { machine } = this;
    if (machine.state.name === "closed") {
      if (machine.policy.rampMs > 0) this.draw = this.at.random();
      return this.passingIn(machine.state);
    }
    if (machine.mode === "forcedClosed") return NO_EVIDENCE;
    if (machine.ask(now) === "refuse") {
      this.emitObserved(admission);
      return NO_EVIDENCE;
    }
    const before = machine.state;
    const permit = new Probing(this, machine.probe(now));
    this.changed(before);
    if (machine.mode === "enforce") {
      admission.kind = "probe";
      admission.timeoutMs = machine.policy.probeTimeoutMs ?? admission.timeoutMs;
    }
    return permit;
  }

  /** It has refused a call itself: the next one has its own chance. */
  hasRefused(): void {
    if (this.machine.policy.rampMs > 0) this.draw = this.at.random();
  }

  /** A guard within has refused a call that this one would have let through. */
  refusedWithin(_asking: Asking, now: number): void {
    const { machine } = this;
    if (!machine.policy.refusalsFail) return;
    const before = machine.state;
    if (before.name === "closed") machine.record(before, "failure", now, this.at.random);
    else if (machine.ask(now) === "probe")
      machine.settleProbe(machine.probe(now), "failure", now, this.at.random);
    this.changed(before);
  }

  /** What an ending means here. */
  verdict(evidence: Evidence): Verdict {
    if (evidence.ending === "throttled" && !this.machine.policy.throttlingFails) return "ignored";
    return evidence.breaker;
  }

  /** Whether the next call is among those that a breaker which has just closed does not let through yet. */
  private ramping(closed: Closed, now: number): boolean {
    const { machine } = this;
    return machine.policy.rampMs > 0 && this.draw >= machine.passingShare(closed, now);
  }

  private openRefusal(open: Open): Rejected {
    if (this.refusing === null || this.refusing.open !== open)
      this.refusing = { open, refusal: openRefusal(open, this.at.runtime) };
    return this.refusing.refusal;
  }

  /** Reports that the state is no longer `before`, if so. */
  changed(before: BreakerState): void {
    const { machine } = this;
    const { runtime, dependency, operation } = this.at;
    if (machine.state === before || machine.state.name === before.name || runtime.sink === null) return;
    const body = { type: "breaker.changed", from: before.name, to: machine.state.name } as const;
    runtime.emit(guardEvent(dependency, operation, runtime.now(), body));
  }

  /** One permit serves every call of a closed period. */
  private passingIn(period: Closed): Passing {
    if (this.passing === null || this.passing.period !== period) this.passing = new Passing(this, period);
    return this.passing;
  }

  private emitObserved(admission: Admission): void {
    const { runtime } = this.at;
    if (runtime.sink === null) return;
    const body = { type: "breaker.observed", attempt: admission.number } as const;
    runtime.emit(callEvent(admission.call, runtime.now(), body));
  }
}

/** A breaker as a layer of a stack. Pass a machine instead of options to share it. */
export function breaker(options: BreakerOptions | CircuitBreaker = {}): Guard {
  return {
    name: "breaker",
    bind: (at) => {
      const machine =
        options instanceof CircuitBreaker ? options : new CircuitBreaker(new BreakerPolicy(options));
      return new BreakerGuard(machine, breakerPlace(at));
    },
  };
}

/** A breaker for each key, made as keys come: a layer of a stack, and what can be seen of it. */
export class KeyedBreakers implements Guard {
  readonly name = "breaker";
  private readonly policy: BreakerPolicy;
  private readonly options: PerKeyOptions;
  private readonly field: string;
  private bound: PerKey<BreakerGuard> | null = null;

  constructor(policy: BreakerPolicy, options: PerKeyOptions, field: string) {
    this.policy = policy;
    this.options = options;
    this.field = field;
  }

  bind(at: Binding): PerKey<BreakerGuard> {
    const place = breakerPlace(at);
    const make = (): BreakerGuard => new BreakerGuard(new CircuitBreaker(this.policy), place);
    this.bound = new PerKey("breaker", make, this.options, this.field);
    return this.bound;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.bound?.keys.size ?? 0;
  }

  /** The breaker of a key; null where none is remembered. */
  of(key: string): CircuitBreaker | null {
    return this.bound?.keys.peek(key)?.machine ?? null;
  }
}

function breakerPlace({ runtime, dependency, operation }: Binding): BreakerPlace {
  const random = runtime.random.fork(`breaker ${dependency}.${operation}`);
  return { runtime, random: () => random.next(), dependency, operation };
}
