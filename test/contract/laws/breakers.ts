// Breakers (law 3): they open for a reason, let through what they may, and are never jammed.
import {
  type Asking,
  Attempt,
  type BreakerState,
  type CircuitBreaker,
  type PlimsollEvent,
  type Rejected,
} from "../../../src/core/index.ts";
import type { AdmitterSpec, BreakerSpec } from "../program.ts";
import type { Fields, Sender, WorkRun } from "../records.ts";
import { FAILURES, Law, type Scene, SUCCESSES } from "./law.ts";

/** Endings since the breaker was last seen to change. */
interface Evidence {
  state: BreakerState;
  /** When it was seen to become that. */
  since: number;
  failures: number;
  successes: number;
  slow: number;
  /** Failures since the last success, and the most there were. */
  row: number;
  longestRow: number;
}

const fresh = (state: BreakerState, since: number): Evidence => ({
  state,
  since,
  failures: 0,
  successes: 0,
  slow: 0,
  row: 0,
  longestRow: 0,
});

export class Breakers extends Law {
  readonly #evidence: Evidence[];
  /** What the events say each breaker is, and since when it is closed again. */
  readonly #told: { state: string; closedAt: number }[];
  /** The same endings by stack and key, for breakers by key. */
  readonly #byKey: Map<string, Evidence> = new Map();
  readonly #refusals: (() => void)[] = [];

  constructor(scene: Scene) {
    super(scene);
    const { breakers } = this.world.parts;
    this.#evidence = breakers.map(({ state }) => fresh(state, 0));
    this.#told = breakers.map(() => ({ state: "closed", closedAt: -Infinity }));
  }

  /** A breaker that enforces lets nothing through but what it admitted. */
  override starts({ attempt, sender, isFallback }: WorkRun): void {
    if (isFallback) return;
    for (const guard of this.shapeOf(sender).innermost) {
      if (guard.kind !== "breaker") continue;
      const machine = this.world.parts.breakers[guard.of];
      const waited = this.world.parts.bulkheads.some((bulkhead) => bulkhead.queued.has(attempt));
      if (machine === undefined || machine.mode !== "enforce" || waited || attempt.wait !== null) continue;
      const { state } = machine;
      if (state.name === "open") this.fail("3", `${sender.name} was sent through an open breaker`);
      if (state.name === "halfOpen" && attempt.kind !== "probe")
        this.fail("3", "no probe, through a half-open breaker");
      const { closedAt } = this.#told[guard.of] as { closedAt: number };
      if (machine.policy.rampMs > 0 && closedAt === this.now && this.#aloneInTheirStacks)
        this.fail("3", "let through at the foot of a ramp");
    }
  }

  override ends(run: WorkRun, ending: string, durationMs: number): void {
    const shape = this.scene.shapes[run.sender.spec.stack];
    this.#evidence.forEach((evidence, index) => {
      const times = shape?.count("breaker", index) ?? 0;
      // One flight that fails is a failure of each call that has waited for it.
      const tookMs = this.#aroundSequences(index) ? Infinity : durationMs;
      if (times > 0) this.#count(evidence, index, ending, tookMs, shape?.coalesce ? Infinity : times);
    });
    for (const guard of shape?.spec.guards ?? []) {
      if (guard.kind !== "breakers") continue;
      const key = `${run.sender.spec.stack} ${run.sender.spec[guard.by]}`;
      const evidence = this.#byKey.get(key) ?? fresh({ name: "open", until: 0 }, 0);
      this.#byKey.set(key, evidence);
      const scoped = shape?.scopes.includes(guard) === true;
      this.#count(evidence, guard.of, ending, scoped ? Infinity : durationMs, scoped ? Infinity : 1);
    }
  }

  /** A substitute is evidence for a breaker that stands around a fallback. */
  override substituteEnds(sender: Sender, ending: string): void {
    const shape = this.scene.shapes[sender.spec.stack];
    this.#evidence.forEach((evidence, index) => {
      const times = shape?.count("breaker", index) ?? 0;
      if (times > 0 && this.#aroundSequences(index))
        this.#count(evidence, index, ending, Infinity, shape?.coalesce ? Infinity : times);
    });
  }

  /** Around a sequence nobody sees how long that took: with `Infinity`, any may have been slow. */
  #count(evidence: Evidence, of: number, ending: string, tookMs: number, times: number): void {
    const { slowCallMs } = this.world.program.breakers[of] as BreakerSpec;
    if (slowCallMs !== null && tookMs >= slowCallMs && ending !== "cancelled") evidence.slow += times;
    if (FAILURES.has(ending)) {
      evidence.failures += times;
      evidence.row += times;
      evidence.longestRow = Math.max(evidence.row, evidence.longestRow);
    } else if (SUCCESSES.has(ending)) {
      evidence.successes += times;
      // Sequences end in another order than the attempts that they are made of.
      if (tookMs < Infinity) evidence.row = 0;
    }
  }

  /** Every change of a breaker is told once, and from what it was. */
  override changed({ operation, from, to }: PlimsollEvent & { type: "breaker.changed" }): void {
    const guards = this.world.program.stacks[Number(operation.slice(1))]?.guards ?? [];
    const of = new Set(guards.flatMap((guard) => (guard.kind === "breaker" ? [guard.of] : [])));
    const [breaker] = of;
    const told = breaker === undefined ? undefined : this.#told[breaker];
    if (!this.#aloneInTheirStacks || told === undefined) return;
    if (told.state !== from) this.fail("3", `a breaker that was ${told.state} tells: from ${from} to ${to}`);
    told.state = to;
    told.closedAt = to === "closed" ? this.now : -Infinity;
  }

  /** An event does not say which of its operation's breakers it is of. */
  get #aloneInTheirStacks(): boolean {
    return this.scene.shapes.every(({ spec }) => {
      const names = spec.guards.flatMap((guard) => (guard.kind === "breaker" ? [guard.of] : []));
      return new Set(names).size <= 1 && spec.guards.every(({ kind }) => kind !== "breakers");
    });
  }

  /** What it refuses for may not have been told yet: judged when nothing is half-way. */
  override refused(spec: AdmitterSpec, stack: number, asking: Asking, refusal: Rejected): void {
    if (spec.kind === "breaker" || spec.kind === "breakers")
      this.#refusals.push(() => this.#mayRefuse(spec, stack, asking, refusal));
  }

  #mayRefuse(spec: AdmitterSpec, stack: number, asking: Asking, { reason }: Rejected): void {
    if (spec.kind === "breaker") this.#refusedInRamp(spec.of, reason);
    if (spec.kind !== "breakers") return;
    const { fields } = asking.call;
    const key = `${stack} ${(fields as Fields).run.spec[spec.by]}`;
    const seen = this.#byKey.get(key);
    const needed = this.#needed(spec.of);
    const enough = seen !== undefined && (seen.failures >= needed || this.#otherReason(spec.of, seen));
    if (!enough) this.fail("3", `a breaker refuses (${reason}) for a key that has not failed`);
  }

  #refusedInRamp(of: number, reason: string): void {
    const machine = this.world.parts.breakers[of] as CircuitBreaker;
    const { closedAt } = this.#told[of] as { closedAt: number };
    if (!reason.startsWith("closed lately") || !this.#aloneInTheirStacks) return;
    // The event of its closing may still be on its way: then it is the very same instant.
    if (this.scene.exact && closedAt > -Infinity && this.now >= closedAt + machine.policy.rampMs)
      this.fail("3", "refused when the ramp was over");
  }

  /** Failures that open a closed breaker, by rate. */
  #needed(of: number): number {
    const { failureRate, minimumCalls } = this.world.program.breakers[of] as BreakerSpec;
    return Math.ceil(failureRate * minimumCalls);
  }

  /** Enough in a row, or enough slow ones. */
  #otherReason(of: number, { longestRow, slow }: Evidence): boolean {
    const { consecutiveFailures, minimumCalls } = this.world.program.breakers[of] as BreakerSpec;
    return longestRow >= (consecutiveFailures ?? Infinity) || slow >= minimumCalls;
  }

  override look(): void {
    for (const judge of this.#refusals.splice(0)) judge();
    this.world.parts.breakers.forEach((machine, index) => {
      this.#lookAt(machine, index, this.#evidence[index] as Evidence);
    });
    for (const { machine, spec } of this.world.parts.keyedBreakers)
      if (machine.size > spec.maxKeys) this.fail("6", `${machine.size} keys are kept, of ${spec.maxKeys}`);
  }

  #lookAt({ state, policy }: CircuitBreaker, index: number, seen: Evidence): void {
    if (state.name === "halfOpen" && state.probes.length + state.passed > policy.probes)
      this.fail("3", `${state.probes.length} probes out and ${state.passed} passed, of ${policy.probes}`);
    if (state !== seen.state && state.name === "open") {
      const wasClosed = seen.state.name === "closed";
      const enough = wasClosed
        ? seen.failures >= this.#needed(index) || this.#otherReason(index, seen)
        : seen.failures + seen.slow > 0;
      if (!enough) this.fail("3", `a breaker opened after ${seen.failures} failures and ${seen.slow} slow`);
    }
    if (state.name === "closed" && state === seen.state) {
      const { window } = state;
      if (window.failures > seen.failures)
        this.fail("3", `${window.failures} failures counted of ${seen.failures}`);
      if (window.total - window.failures > seen.successes)
        this.fail("3", "more successes counted than there were");
    }
    if (state !== seen.state) {
      // Around a sequence, evidence comes when that ends, long after the attempts that it is made of.
      const anew = state.name !== "closed" && !this.#aroundSequences(index);
      this.#evidence[index] = anew ? fresh(state, this.now) : { ...seen, state, since: this.now };
    }
    this.#countProbes(index);
  }

  #aroundSequences(breaker: number): boolean {
    return this.scene.shapes.some(({ scopes }) =>
      scopes.some((guard) => guard.kind === "breaker" && guard.of === breaker),
    );
  }

  #countProbes(index: number): void {
    const machine = this.world.parts.breakers[index] as CircuitBreaker;
    const { since } = this.#evidence[index] as Evidence;
    let [out, unanswered] = [0, 0];
    for (const { attempt, sender, isFallback } of this.world.live) {
      const through = this.shapeOf(sender).innermost.some(
        (guard) => guard.kind === "breaker" && guard.of === index,
      );
      if (isFallback || !through || attempt.state !== "sent") continue;
      unanswered++;
      const leased = attempt.sentAt + machine.policy.probeLeaseMs > this.now;
      if (attempt.kind === "probe" && leased && attempt.sentAt >= since) out++;
    }
    const { state, policy } = machine;
    if (state.name !== "halfOpen") return;
    if (out > policy.probes) this.fail("3", `${out} probes out, of ${policy.probes}`);
    if (this.#aroundSequences(index)) return;
    const held = state.probes.filter((probe) => probe.leasedUntil > this.now).length;
    if (held > unanswered) this.fail("3", `${held} probes held, and ${unanswered} attempts have no answer`);
  }

  override end(laterMs: number): void {
    const later = this.now + laterMs;
    const { breakers, keyedBreakers } = this.world.parts;
    for (const machine of breakers)
      if (machine.ask(later) === "refuse") this.fail("3", "a breaker is jammed");
    for (const { machine } of keyedBreakers) {
      for (const { spec } of this.world.calls)
        for (const key of [spec.key, spec.tenant])
          if (machine.of(key)?.ask(later) === "refuse") this.fail("3", "the breaker of a key is jammed");
    }
  }
}

/** Whether an attempt is a probe, or one of the attempts of a sequence that is. A probe's limit replaces its own. */
export function isProbing(attempt: Attempt): boolean {
  if (attempt.kind === "probe") return true;
  for (let { outer } = attempt; outer !== null && !(outer instanceof Attempt); { outer } = outer)
    if (outer.kind === "probe") return true;
  return false;
}
