import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BreakerState, CircuitBreaker, type Probe, type Verdict } from "./machine.ts";
import { type BreakerOptions, BreakerPolicy, fixed, growing, jittered } from "./options.ts";

const half = (): number => 0.5;

/** A breaker that opens at the third failure of its last five, for 100 ms, and closes after two probes. */
function small(more: BreakerOptions = {}): CircuitBreaker {
  return new CircuitBreaker(
    new BreakerPolicy({
      window: { calls: 5 },
      minimumCalls: 3,
      failureRate: 0.6,
      openMs: 100,
      reopen: fixed(),
      probes: 2,
      ...more,
    }),
  );
}

function record(breaker: CircuitBreaker, verdicts: readonly Verdict[], now = 0): void {
  for (const verdict of verdicts) {
    const { state } = breaker;
    if (state.name === "closed") breaker.record(state, verdict, now, half);
  }
}

const failing = (count: number): Verdict[] => new Array<Verdict>(count).fill("failure");

describe("CircuitBreaker", () => {
  it("opens only with enough outcomes, and enough failures among them", () => {
    const breaker = small();
    record(breaker, ["failure", "failure"]);
    expect(breaker.state.name).toBe("closed");
    record(breaker, ["success", "success"]);
    expect(breaker.state.name).toBe("closed");
    record(breaker, ["failure"]);
    expect(breaker.state).toMatchObject({ name: "open", until: 100 });
  });

  it("does not open at a success, whatever is in its window", () => {
    const breaker = small({ minimumCalls: 4, failureRate: 0.5 });
    record(breaker, ["failure", "failure", "success", "success"]);
    expect(breaker.state.name).toBe("closed");
  });

  it("takes no notice of what is ignored", () => {
    const breaker = small();
    record(breaker, new Array<Verdict>(50).fill("ignored"));
    expect(breaker.state).toMatchObject({ name: "closed", window: { total: 0 } });
  });

  it("refuses while it is open, says for how long, and then asks for probes", () => {
    const breaker = small();
    record(breaker, failing(3), 50);
    expect([breaker.ask(50), breaker.ask(149), breaker.ask(150)]).toEqual(["refuse", "refuse", "probe"]);
    expect([breaker.refusesForMs(60), breaker.refusesForMs(200)]).toEqual([90, 0]);
    expect(breaker.state.name).toBe("open");
  });

  it("closes when all its probes have passed, with an empty window", () => {
    const breaker = small();
    record(breaker, failing(3));
    const probes = [breaker.probe(100), breaker.probe(100)];
    expect(breaker.ask(100)).toBe("refuse");
    expect(breaker.refusesForMs(100)).toBeUndefined();
    for (const probe of probes) breaker.settleProbe(probe, "success", 110, half);
    expect(breaker.state).toMatchObject({ name: "closed", window: { total: 0, failures: 0 } });
  });

  it("opens again at the first failed probe, and forgets those still out", () => {
    const breaker = small();
    record(breaker, failing(3));
    const [bad, late] = [breaker.probe(100), breaker.probe(100)];
    breaker.settleProbe(bad, "failure", 120, half);
    expect(breaker.state).toMatchObject({ name: "open", until: 220 });
    breaker.settleProbe(late, "success", 130, half);
    expect(breaker.state).toMatchObject({ name: "open", until: 220 });
  });

  it("gives a probe's slot back when it was no evidence, and when its lease has run out", () => {
    const breaker = small({ probes: 1, probeLeaseMs: 70 });
    record(breaker, failing(3));
    const cancelled = breaker.probe(100);
    breaker.settleProbe(cancelled, "ignored", 110, half);
    expect(breaker.ask(110)).toBe("probe");
    const lost = breaker.probe(110);
    expect([breaker.ask(179), breaker.ask(180)]).toEqual(["refuse", "probe"]);
    const next = breaker.probe(180);
    breaker.settleProbe(lost, "failure", 190, half);
    expect(breaker.state.name).toBe("halfOpen");
    breaker.settleProbe(next, "success", 190, half);
    expect(breaker.state.name).toBe("closed");
  });

  it("settles a probe once", () => {
    const breaker = small();
    record(breaker, failing(3));
    const probe = breaker.probe(100);
    breaker.settleProbe(probe, "success", 110, half);
    breaker.settleProbe(probe, "success", 110, half);
    breaker.settleProbe(probe, "failure", 110, half);
    expect(breaker.state).toMatchObject({ name: "halfOpen", passed: 1 });
  });

  it("ignores what lands after its period", () => {
    const breaker = small();
    const old = breaker.state as Extract<BreakerState, { name: "closed" }>;
    record(breaker, failing(3));
    breaker.record(old, "failure", 0, half);
    expect(breaker.state).toMatchObject({ name: "open", until: 100 });
    breaker.reset();
    for (let i = 0; i < 10; i++) breaker.record(old, "failure", 0, half);
    expect(breaker.state).toMatchObject({ name: "closed", window: { total: 0 } });
  });

  it("stays open longer with every opening, up to its cap, until it closes", () => {
    const breaker = small({ reopen: growing({ jitter: 0, maxMs: 350 }), probes: 1 });
    const lengths: number[] = [];
    record(breaker, failing(3));
    for (let i = 0, now = 0; i < 4; i++) {
      const { until } = breaker.state as { until: number };
      lengths.push(until - now);
      now = until;
      breaker.settleProbe(breaker.probe(now), i === 3 ? "success" : "failure", now, half);
    }
    expect(lengths).toEqual([100, 200, 350, 350]);
    record(breaker, failing(3));
    expect(breaker.state).toMatchObject({ until: 100 });
  });

  it("adds its jitter, and nothing when it is fixed", () => {
    const until = (reopen: BreakerOptions["reopen"]): number => {
      const breaker = small({ reopen: reopen ?? fixed() });
      record(breaker, failing(3));
      return Math.round((breaker.state as { until: number }).until);
    };
    expect([until(fixed()), until(jittered()), until(growing())]).toEqual([100, 110, 110]);
  });

  it("has the defaults of its sources", () => {
    const { minimumCalls, failureRate, openMs, probes, probeLeaseMs, mode } = new BreakerPolicy({});
    expect({ minimumCalls, failureRate, openMs, probes, probeLeaseMs, mode }).toEqual({
      minimumCalls: 100,
      failureRate: 0.5,
      openMs: 5000,
      probes: 3,
      probeLeaseMs: 5000,
      mode: "enforce",
    });
    expect(new BreakerPolicy({ window: { ms: 1000 } }).minimumCalls).toBe(20);
    expect(new BreakerPolicy({ openMs: 2_000_000_000 }).openForMs(1, 0)).toBe(2_000_000_000);
  });

  it("never has more probes out than allowed, is in one state, and never jams (property)", () => {
    const verdict = fc.constantFrom<Verdict>("success", "failure", "ignored");
    const step = fc.record({
      later: fc.nat({ max: 60 }),
      does: fc.constantFrom("call", "call", "end"),
      which: fc.nat(),
      verdict,
    });
    const options = fc.record({
      window: fc.oneof(
        fc.record({ calls: fc.integer({ min: 1, max: 6 }) }),
        fc.record({ ms: fc.integer({ min: 10, max: 200 }) }),
      ),
      minimumCalls: fc.constant(1),
      failureRate: fc.double({ min: 0.01, max: 1, noNaN: true }),
      openMs: fc.integer({ min: 1, max: 100 }),
      probes: fc.integer({ min: 1, max: 4 }),
      probeLeaseMs: fc.integer({ min: 1, max: 100 }),
    });
    fc.assert(
      fc.property(options, fc.array(step, { maxLength: 200 }), (option, steps) => {
        const breaker = new CircuitBreaker(new BreakerPolicy(option));
        const out: { period: BreakerState; probe: Probe | null }[] = [];
        let now = 0;
        const observe = (): void => {
          const { state } = breaker;
          expect(["closed", "open", "halfOpen"]).toContain(state.name);
          if (state.name !== "halfOpen") return;
          expect(state.probes.length + state.passed).toBeLessThanOrEqual(option.probes);
          const here = out.filter(({ period, probe }) => period === state && probe !== null);
          const leased = here.filter(({ probe }) => (probe as Probe).leasedUntil > now);
          expect(leased.length).toBeLessThanOrEqual(option.probes);
        };
        const call = (): void => {
          const answer = breaker.ask(now);
          const before = breaker.state;
          expect(breaker.ask(now)).toBe(answer); // asking changes nothing
          expect(breaker.state).toBe(before);
          if (answer === "pass") out.push({ period: before, probe: null });
          else if (answer === "probe") {
            const probe = breaker.probe(now);
            out.push({ period: breaker.state, probe });
          }
        };
        for (const { later, does, which, verdict: how } of steps) {
          now += later;
          if (does === "call") call();
          else if (out.length > 0) {
            const [ended] = out.splice(which % out.length, 1);
            if (ended === undefined) continue;
            if (ended.probe !== null) breaker.settleProbe(ended.probe, how, now, half);
            else if (ended.period.name === "closed") breaker.record(ended.period, how, now, half);
          }
          observe();
        }
        // Whatever was lost on the way: after the open time and the leases it can be closed again.
        now += 12 * option.openMs * 1.2 + option.probeLeaseMs;
        for (let i = 0; i < option.probes && breaker.state.name !== "closed"; i++) {
          expect(breaker.ask(now)).toBe("probe");
          breaker.settleProbe(breaker.probe(now), "success", now, half);
        }
        expect(breaker.state.name).toBe("closed");
      }),
    );
  });
});

describe("a breaker that minds slow calls", () => {
  const slow = (more: BreakerOptions = {}) =>
    small({ slowCallMs: 100, slowCallRate: 0.5, minimumCalls: 4, ...more });
  const took = (breaker: CircuitBreaker, verdict: Verdict, tookMs: number, now = 0): void => {
    const { state } = breaker;
    if (state.name === "closed") breaker.record(state, verdict, now, half, tookMs);
  };

  it("opens when enough of them were slow, although all succeeded", () => {
    const breaker = slow();
    for (const ms of [10, 99.9, 100]) took(breaker, "success", ms);
    expect(breaker.state.name).toBe("closed");
    took(breaker, "success", 500, 7);
    expect(breaker.state).toMatchObject({ name: "open", until: 107 });
  });

  it("opens at a rate of 1 when all are slow, and not before (case 008)", () => {
    const breaker = slow({ slowCallRate: 1 });
    for (const ms of [1, 100, 100, 100]) took(breaker, "success", ms);
    expect(breaker.state.name).toBe("closed");
    for (const ms of [100, 100]) took(breaker, "success", ms);
    expect(breaker.state.name).toBe("open");
    const failing100 = small({ failureRate: 1, minimumCalls: 5 });
    record(failing100, [...failing(4), "success", ...failing(4)]);
    expect(failing100.state.name).toBe("closed");
    record(failing100, failing(1));
    expect(failing100.state.name).toBe("open");
  });

  it("counts the age of a call that was given up as slow, and nothing else of it", () => {
    const breaker = slow();
    for (let i = 0; i < 3; i++) took(breaker, "ignored", 10);
    expect(breaker.state).toMatchObject({ slow: { total: 0 } });
    for (let i = 0; i < 4; i++) took(breaker, "ignored", 150);
    expect(breaker.state.name).toBe("open");
  });
});

describe("a breaker that minds failures in a row", () => {
  it("opens at the last of them, whatever the window holds", () => {
    const breaker = small({ window: { calls: 100 }, minimumCalls: 100, consecutiveFailures: 3 });
    record(breaker, ["failure", "failure", "success", "failure", "failure"]);
    expect(breaker.state.name).toBe("closed");
    record(breaker, ["ignored", "failure"]);
    expect(breaker.state.name).toBe("open");
  });
});

describe("a breaker with a ramp", () => {
  it("lets a growing share through after it has closed, and everything from the start", () => {
    const breaker = small({ rampMs: 1_000 });
    const share = (now: number) =>
      breaker.state.name === "closed" ? breaker.passingShare(breaker.state, now) : -1;
    expect(share(0)).toBe(1);
    record(breaker, failing(3));
    for (const probe of [breaker.probe(100), breaker.probe(100)])
      breaker.settleProbe(probe, "success", 200, half);
    expect([share(200), share(450), share(1_200), share(9_999)]).toEqual([0, 0.25, 1, 1]);
    breaker.reset();
    expect(share(200)).toBe(1);
  });
});

describe("a breaker's snapshot", () => {
  const moved = (from: CircuitBreaker, at: number, to: number): CircuitBreaker => {
    const other = small();
    other.restore(JSON.parse(JSON.stringify(from.snapshot(at))), to);
    return other;
  };

  it("carries the rest of an open period (case 017)", () => {
    const breaker = small();
    record(breaker, failing(3), 1_000);
    const other = moved(breaker, 1_060, 5);
    expect([other.ask(44), other.ask(45)]).toEqual(["refuse", "probe"]);
  });

  it("makes the next call of a half-open one a probe, and counts what passed (case 017)", () => {
    const breaker = small();
    record(breaker, failing(3));
    breaker.settleProbe(breaker.probe(100), "success", 110, half);
    breaker.probe(120);
    const other = moved(breaker, 130, 0);
    expect(other.ask(0)).toBe("probe");
    other.settleProbe(other.probe(0), "success", 1, half);
    expect(other.state.name).toBe("closed");
  });

  it("remembers how often it has opened", () => {
    const breaker = small({ reopen: growing({ jitter: 0 }) });
    record(breaker, failing(3));
    const other = small({ reopen: growing({ jitter: 0 }) });
    other.restore(breaker.snapshot(0), 0);
    other.settleProbe(other.probe(100), "failure", 100, half);
    expect(other.state).toMatchObject({ name: "open", until: 300 });
  });

  it("may say that it has opened as often as can be said", () => {
    const reopen = growing({ factor: 1, jitter: 0 });
    const breaker = small({ reopen });
    breaker.restore({ ...breaker.snapshot(0), state: "halfOpen", openings: Number.MAX_SAFE_INTEGER }, 0);
    breaker.settleProbe(breaker.probe(0), "failure", 0, half);
    expect(breaker.snapshot(0)).toMatchObject({ state: "open", opensForMs: 100, openings: 1_000 });
  });

  it("can be taken up again however long it stays open", () => {
    const longest = 2 ** 31 - 1;
    const breaker = small({ openMs: longest, reopen: jittered(1) });
    record(breaker, failing(3));
    const snapshot = breaker.snapshot(0);
    breaker.restore(snapshot, 0);
    expect(breaker.snapshot(0)).toEqual(snapshot);
  });

  it("is refused by name when it is none, and then changes nothing", () => {
    const good = small().snapshot(0);
    for (const wrong of [
      { state: "ajar" },
      { opensForMs: -1 },
      { passed: 0.5 },
      { openings: Number.NaN },
      { until: 3 },
    ]) {
      const breaker = small();
      record(breaker, failing(3));
      const [field] = Object.keys(wrong);
      expect(() => breaker.restore({ ...good, ...wrong } as never, 0)).toThrow(`snapshot.${field}`);
      expect(breaker.state.name).toBe("open");
    }
  });
});
