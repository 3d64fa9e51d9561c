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
import { checkKeys, checkMs, checkNumber, checkOneOf } from "../options.ts";
import { BREAKER_MODES, type BreakerMode, type BreakerPolicy } from "./options.ts";
import type { Window } from "./window.ts";

/** More openings in a row are not counted: what grows with each is worked out step by step. */
const MOST_OPENINGS = 1_000;

/** What an attempt's end means to the breaker. */
export type Verdict = "success" | "failure" | "ignored";

/** Closed: remembers outcomes. Each closed period is an object of its own. */
export interface Closed {
  readonly name: "closed";
  readonly window: Window;
  /** The same calls, where a "failure" is one that was slow; null where none is. */
  readonly slow: Window | null;
  /** When it began, for its ramp; null for a breaker that was not open before. */
  readonly since: number | null;
  /** Failures since the last success. */
  inARow: number;
}

/** Open: refuses until `until`. */
export interface Open {
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

/** A breaker's state as plain data, to be kept or carried elsewhere. */
export interface BreakerSnapshot {
  readonly state: BreakerState["name"];
  /** How long it stays open from now on, in ms; 0 unless it is open. */
  readonly opensForMs: number;
  /** Probes that have passed; 0 unless it is half-open. */
  readonly passed: number;
  /** Openings since it was last closed. */
  readonly openings: number;
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
    this.current = policy.newPeriod(null);
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

  /** The share of calls that a closed breaker lets through at `now`: below 1 in the first `rampMs` of a period. */
  passingShare(closed: Closed, now: number): number {
    const { rampMs } = this.policy;
    const { since } = closed;
    return rampMs === 0 || since === null ? 1 : Math.min(1, Math.max(0, now - since) / rampMs);
  }

  /** An ordinary call that passed during `closed` has succeeded, in a window that knows no time. */
  succeeded(closed: Closed): void {
    if (this.current !== closed) return;
    closed.inARow = 0;
    closed.window.add(false, 0);
  }

  /**
   * An ordinary call that passed during `closed` has ended, `tookMs` after it was sent. Opens the breaker if that was
   * one failure, or one slow call, too many.
   */
  record(closed: Closed, verdict: Verdict, now: number, random: () => number, tookMs = 0): void {
    if (this.current !== closed) return;
    const slow = tookMs >= this.policy.slowCallMs;
    if (verdict !== "ignored") {
      closed.window.add(verdict === "failure", now);
      closed.inARow = verdict === "failure" ? closed.inARow + 1 : 0;
      closed.slow?.add(slow, now);
    } else if (slow) closed.slow?.add(true, now);
    if ((slow || verdict === "failure") && this.policy.trips(closed)) this.open(now, random());
  }

  /** A probe has ended. */
  settleProbe(probe: Probe, verdict: Verdict, now: number, random: () => number): void {
    const state = this.current;
    if (state.name !== "halfOpen") return;
    const index = state.probes.indexOf(probe);
    if (index < 0) return;
    state.probes.splice(index, 1);
    if (verdict === "failure") this.open(now, random());
    else if (verdict === "success" && ++state.passed === this.policy.probes) this.close(now);
  }

  /** Closes at once and forgets; for operators and tests. */
  reset(): void {
    this.close(null);
  }

  /** What is to be known of it elsewhere, or later: not the outcomes in its window, which say nothing by then. */
  snapshot(now: number): BreakerSnapshot {
    const { current: state, openings } = this;
    const passed = state.name === "halfOpen" ? state.passed : 0;
    return { state: state.name, opensForMs: this.refusesForMs(now) ?? 0, passed, openings };
  }

  /**
   * Takes up a snapshot: open, it refuses for the rest of its time; half-open, the next call is a probe; closed, its
   * window is empty. Throws an `OptionError` for what is no snapshot; then nothing has changed.
   */
  restore(snapshot: BreakerSnapshot, now: number): void {
    const { state, opensForMs, passed, openings } = checkSnapshot(snapshot, this.policy.probes);
    this.openings = openings;
    if (state === "closed") this.current = this.policy.newPeriod(null);
    else if (state === "open") this.current = { name: "open", until: now + opensForMs };
    else this.current = { name: "halfOpen", probes: [], passed };
  }

  private open(now: number, random: number): void {
    this.openings = Math.min(this.openings + 1, MOST_OPENINGS);
    this.current = { name: "open", until: now + this.policy.openForMs(this.openings, random) };
  }

  private close(now: number | null): void {
    this.openings = 0;
    this.current = this.policy.newPeriod(now);
  }
}

function checkSnapshot(given: BreakerSnapshot, probes: number): BreakerSnapshot {
  checkKeys("snapshot", given, ["state", "opensForMs", "passed", "openings"]);
  const whole = (name: "passed" | "openings", max: number) =>
    checkNumber(`snapshot.${name}`, given[name], { max, integer: true });
  return {
    state: checkOneOf("snapshot.state", given.state, ["closed", "open", "halfOpen"]),
    opensForMs: checkMs("snapshot.opensForMs", given.opensForMs),
    // One that had more probes than this one asks for has still to pass the last of them here.
    passed: Math.min(whole("passed", 1_000), probes - 1),
    openings: Math.min(whole("openings", Number.MAX_SAFE_INTEGER), MOST_OPENINGS),
  };
}
