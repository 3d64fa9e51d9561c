/** What a breaker gives to the calls that it lets through: they carry the evidence back. */
import type { Admission } from "../admission.ts";
import type { Permit } from "../admitter.ts";
import type { Evidence } from "../evidence.ts";
import type { BreakerGuard } from "./guard.ts";
import type { Closed, Probe } from "./machine.ts";

/** The permit of all ordinary calls during one closed period. */
export class Passing implements Permit {
  readonly period: Closed;
  private readonly guard: BreakerGuard;

  constructor(guard: BreakerGuard, period: Closed) {
    this.guard = guard;
    this.period = period;
  }

  settle(evidence: Evidence, admission: Admission): void {
    const { period, guard } = this;
    // A success in a window of counts has no time: the clock is not even read.
    if (evidence.breaker === "success" && !period.window.timed && period.slow === null)
      guard.machine.succeeded(period);
    else this.settleTimed(evidence, admission);
  }

  private settleTimed(evidence: Evidence, admission: Admission): void {
    const { period, guard } = this;
    const { machine } = guard;
    const now = guard.at.runtime.now();
    const before = machine.state;
    machine.record(period, guard.verdict(evidence), now, guard.at.random, ageOf(evidence, admission, now));
    guard.changed(before);
  }

  release(): void {}
}

/** How long it took, where that says something about the dependency: a caller who left says nothing. */
function ageOf({ ending, breaker }: Evidence, { sentAt }: Admission, now: number): number {
  return sentAt >= 0 && (breaker !== "ignored" || ending === "hedgeLoser") ? now - sentAt : 0;
}

/** The permit of one probe. */
export class Probing implements Permit {
  private readonly guard: BreakerGuard;
  private readonly probe: Probe;

  constructor(guard: BreakerGuard, probe: Probe) {
    this.guard = guard;
    this.probe = probe;
  }

  settle(evidence: Evidence, { sentAt }: Admission): void {
    const { machine, at } = this.guard;
    const now = at.runtime.now();
    const before = machine.state;
    const verdict = this.guard.verdict(evidence);
    // A probe that is slow has not shown that things are well again.
    const slow = verdict === "success" && sentAt >= 0 && now - sentAt >= machine.policy.slowCallMs;
    machine.settleProbe(this.probe, slow ? "failure" : verdict, now, at.random);
    this.guard.changed(before);
  }

  release(): void {}
}
