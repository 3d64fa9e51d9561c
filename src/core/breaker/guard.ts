/** The breaker as an admitter: asks `machine.ts`, hands out permits, and reports changes of state. */
import type { Admission, Admitter, Asking, Permit } from "../admission.ts";
import { type Rejected, rejected } from "../call.ts";
import { callEvent, guardEvent } from "../events.ts";
import type { Evidence } from "../evidence.ts";
import type { Runtime } from "../runtime.ts";
import type { Guard } from "../stack.ts";
import { type BreakerState, CircuitBreaker, type Closed, type Probe, type Verdict } from "./machine.ts";
import { type BreakerOptions, BreakerPolicy } from "./options.ts";

const PROBING = rejected("breaker", "half-open, probes are out");
const FORCED = rejected("breaker", "forced open");
/** Given to calls that pass although the breaker would refuse them: they are no evidence. */
const NO_EVIDENCE: Permit = { settle() {}, release() {} };

/** A breaker in a run. */
export class BreakerGuard implements Admitter {
  readonly name = "breaker";
  readonly timed = true;
  readonly machine: CircuitBreaker;
  readonly runtime: Runtime;
  readonly random: () => number;
  private readonly dependency: string;
  private readonly operation: string;
  private passing: Passing | null = null;
  private refusedIn: BreakerState | null = null;
  private refusal: Rejected = PROBING;

  constructor(machine: CircuitBreaker, runtime: Runtime, dependency: string, operation: string) {
    this.machine = machine;
    this.runtime = runtime;
    this.dependency = dependency;
    this.operation = operation;
    const random = runtime.random.fork(`breaker ${dependency}.${operation}`);
    this.random = () => random.next();
  }

  get mayRefuse(): boolean {
    const { mode, state } = this.machine;
    return mode === "enforce" ? state.name !== "closed" : mode === "forcedOpen";
  }

  check(asking: Asking, now: number): Rejected | null {
    const { machine } = this;
    if (machine.mode !== "enforce") return machine.mode === "forcedOpen" ? FORCED : null;
    if (machine.state.name === "closed") return null;
    const answer = machine.ask(now);
    if (answer === "probe" && asking.kind !== "hedge") return null;
    return machine.state.name === "open" && answer === "refuse" ? this.openRefusal(machine.state) : PROBING;
  }

  take(admission: Admission, now: number): Permit {
    const { machine } = this;
    if (machine.state.name === "closed") return this.passingIn(machine.state);
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

  /** A guard within has refused a call that this one would have let through. */
  refusedWithin(now: number): void {
    const { machine } = this;
    if (!machine.policy.refusalsFail) return;
    const before = machine.state;
    if (before.name === "closed") machine.record(before, "failure", now, this.random);
    else if (machine.ask(now) === "probe")
      machine.settleProbe(machine.probe(now), "failure", now, this.random);
    this.changed(before);
  }

  /** What an ending means here. */
  verdict(evidence: Evidence): Verdict {
    if (evidence.ending === "throttled" && !this.machine.policy.throttlingFails) return "ignored";
    return evidence.breaker;
  }

  /** One refusal serves a whole open period; its hint is worked out when somebody reads it. */
  private openRefusal(open: BreakerState & { name: "open" }): Rejected {
    if (this.refusedIn !== open) {
      const { runtime } = this;
      this.refusedIn = open;
      this.refusal = {
        kind: "rejected",
        by: "breaker",
        reason: "open",
        get retryAfterMs() {
          return Math.max(0, open.until - runtime.now());
        },
      };
    }
    return this.refusal;
  }

  /** Reports that the state is no longer `before`, if so. */
  changed(before: BreakerState): void {
    const { runtime, machine } = this;
    if (machine.state === before || machine.state.name === before.name || runtime.sink === null) return;
    const body = { type: "breaker.changed", from: before.name, to: machine.state.name } as const;
    runtime.emit(guardEvent(this.dependency, this.operation, runtime.now(), body));
  }

  /** One permit serves every call of a closed period. */
  private passingIn(period: Closed): Passing {
    if (this.passing === null || this.passing.period !== period) this.passing = new Passing(this, period);
    return this.passing;
  }

  private emitObserved(admission: Admission): void {
    if (this.runtime.sink === null) return;
    const body = { type: "breaker.observed", attempt: admission.number } as const;
    this.runtime.emit(callEvent(admission.call, this.runtime.now(), body));
  }
}

/** The permit of all ordinary calls during one closed period. */
class Passing implements Permit {
  readonly period: Closed;
  private readonly guard: BreakerGuard;

  constructor(guard: BreakerGuard, period: Closed) {
    this.guard = guard;
    this.period = period;
  }

  settle(evidence: Evidence): void {
    const { period, guard } = this;
    // A success in a window of counts has no time: the clock is not even read.
    if (evidence.breaker === "success" && !period.window.timed) guard.machine.succeeded(period);
    else this.settleTimed(evidence);
  }

  private settleTimed(evidence: Evidence): void {
    const { period, guard } = this;
    const before = guard.machine.state;
    guard.machine.record(period, guard.verdict(evidence), guard.runtime.now(), guard.random);
    guard.changed(before);
  }

  release(): void {}
}

/** The permit of one probe. */
class Probing implements Permit {
  private readonly guard: BreakerGuard;
  private readonly probe: Probe;

  constructor(guard: BreakerGuard, probe: Probe) {
    this.guard = guard;
    this.probe = probe;
  }

  settle(evidence: Evidence): void {
    const guard = this.guard;
    const before = guard.machine.state;
    guard.machine.settleProbe(this.probe, guard.verdict(evidence), guard.runtime.now(), guard.random);
    guard.changed(before);
  }

  release(): void {}
}

/** A breaker as a layer of a stack. Pass a machine instead of options to share it. */
export function breaker(options: BreakerOptions | CircuitBreaker = {}): Guard {
  return {
    name: "breaker",
    bind: ({ runtime, dependency, operation }) => {
      const machine =
        options instanceof CircuitBreaker ? options : new CircuitBreaker(new BreakerPolicy(options));
      return new BreakerGuard(machine, runtime, dependency, operation);
    },
  };
}
