/**
 * The circuit breaker: stops calls that are unlikely to succeed, and lets a few real ones test recovery.
 *
 *     CLOSED --- enough failures ---> OPEN --- openMs over, next call ---> HALF-OPEN
 *       ^                              ^                                      |
 *       |                              +------------ a probe failed ----------+
 *       +------------------ all probes passed --------------------------------+
 *
 * Whoever is admitted gets a permit that belongs to one period of one state; what lands after that period is over is
 * ignored. A half-open breaker never sends more than `probes` calls; a probe that is cancelled, or whose lease runs
 * out, frees its slot, so no breaker can be jammed. There is no timer: states change when calls ask or end.
 * Sources: Nygard, "Release It!"; the Basketly page, Part 7; the resilience notes, §06.
 */
import { checkOneOf } from "../options.ts";
import { BREAKER_MODES, type BreakerMode, type BreakerPolicy } from "./options.ts";
import type { Window } from "./window.ts";

/** What an attempt's end means to the breaker. */
export type Verdict = "success" | "failure" | "ignored";

/** Closed: remembers outcomes. Each closed period is an object of its own. */
export interface Closed {
  readonly name: "closed";
  readonly window: Window;
}

/** Open: refuses until `until`. */
interface Open {
  readonly name: "open";
  readonly until: number;
}

/** Half-open: has sent these probes; `passed` of the answered ones succeeded. */
interface HalfOpen {
  readonly name: "halfOpen";
  readonly probes: Probe[];
  passed: number;
}

/** The state of a breaker. */
export type BreakerState = Closed | Open | HalfOpen;

/** The right to test a half-open breaker's dependency once. */
export interface Probe {
  readonly leasedUntil: number;
}

/** One breaker's state. */
export class CircuitBreaker {
  readonly policy: BreakerPolicy;
  private how: BreakerMode;
  private current: BreakerState;
  private openings = 0;

  constructor(policy: BreakerPolicy) {
    this.policy = policy;
    this.how = policy.mode;
    this.current = { name: "closed", window: policy.newWindow() };
  }

  get mode(): BreakerMode {
    return this.how;
  }

  /** Changing it takes effect with the next call; the state underneath goes on as before. */
  set mode(mode: BreakerMode) {
    this.how = checkOneOf("breaker.mode", mode, BREAKER_MODES);
  }

  get state(): BreakerState {
    return this.current;
  }

  /** Whether a call at `now` may pass: as an ordinary call, as a probe, or not at all. Changes nothing. */
  ask(now: number): "pass" | "probe" | "refuse" {
    const state = this.current;
    if (state.name === "closed") return "pass";
    if (state.name === "open") return now >= state.until ? "probe" : "refuse";
    if (state.passed + state.probes.length < this.policy.probes) return "probe";
    return state.probes.some((probe) => probe.leasedUntil <= now) ? "probe" : "refuse";
  }

  /** For how many ms `ask` will certainly refuse; undefined if it depends on the probes. */
  refusesForMs(now: number): number | undefined {
    return this.current.name === "open" ? Math.max(0, this.current.until - now) : undefined;
  }

  /** Takes a probe, after `ask` said so at the same `now`. */
  probe(now: number): Probe {
    let state = this.current;
    if (state.name !== "halfOpen") {
      state = { name: "halfOpen", probes: [], passed: 0 };
      this.current = state;
    }
    const lapsed = state.probes.findIndex((probe) => probe.leasedUntil <= now);
    if (lapsed >= 0) state.probes.splice(lapsed, 1);
    const probe = { leasedUntil: now + this.policy.probeLeaseMs };
    state.probes.push(probe);
    return probe;
  }

  /** An ordinary call that passed during `closed` has succeeded, and its window knows no time. */
  succeeded(closed: Closed): void {
    if (this.current === closed) closed.window.add(false, 0);
  }

  /** An ordinary call that passed during `closed` has ended. Opens the breaker if that was one failure too many. */
  record(closed: Closed, verdict: Verdict, now: number, random: () => number): void {
    if (verdict === "ignored" || this.current !== closed) return;
    closed.window.add(verdict === "failure", now);
    if (verdict === "failure" && this.policy.trips(closed.window)) this.open(now, random());
  }

  /** A probe has ended. */
  settleProbe(probe: Probe, verdict: Verdict, now: number, random: () => number): void {
    const state = this.current;
    if (state.name !== "halfOpen") return;
    const index = state.probes.indexOf(probe);
    if (index < 0) return;
    state.probes.splice(index, 1);
    if (verdict === "failure") this.open(now, random());
    else if (verdict === "success" && ++state.passed === this.policy.probes) this.close();
  }

  /** Closes at once and forgets; for operators and tests. */
  reset(): void {
    this.close();
  }

  private open(now: number, random: number): void {
    this.openings++;
    this.current = { name: "open", until: now + this.policy.openForMs(this.openings, random) };
  }

  private close(): void {
    this.openings = 0;
    this.current = { name: "closed", window: this.policy.newWindow() };
  }
}
