import { describe, expect, it } from "vitest";
import { fault, Lab, only } from "../../../test/lib/lab.ts";
import { immediately } from "../backoff/machine.ts";
import { bulkhead } from "../bulkhead/guard.ts";
import { hedge } from "../hedge/guard.ts";
import { retry } from "../retry/guard.ts";
import { timeout } from "../timeout/guard.ts";
import { breaker } from "./guard.ts";
import { CircuitBreaker } from "./machine.ts";
import { type BreakerOptions, BreakerPolicy, fixed } from "./options.ts";

const machine = (more: BreakerOptions = {}): CircuitBreaker =>
  new CircuitBreaker(
    new BreakerPolicy({ window: { calls: 4 }, openMs: 100, reopen: fixed(), probes: 2, ...more }),
  );

function opened(more: BreakerOptions = {}) {
  const lab = new Lab();
  const shared = machine(more);
  const stack = lab.stack([breaker(shared), timeout(1000)]);
  for (let i = 0; i < 4; i++) lab.start(stack, lab.throws(fault("transient")));
  return { lab, shared, stack };
}

describe("breaker", () => {
  it("opens, refuses without sending, says for how long, and reports its changes", () => {
    const { lab, stack } = opened();
    lab.runtime.advance(40);
    const refused = lab.start(stack, lab.gives(1));
    expect(only(refused, "rejected")).toEqual({
      kind: "rejected",
      by: "breaker",
      reason: "open",
      retryAfterMs: 60,
    });
    expect(refused.sent).toEqual([]);
    lab.runtime.advance(60);
    for (let i = 0; i < 2; i++) expect(only(lab.start(stack, lab.gives(i)), "ok").value).toBe(i);
    const changes = lab.events.filter((event) => event.type === "breaker.changed");
    expect(changes.map(({ at, from, to, call }) => [at, from, to, call])).toEqual([
      [0, "closed", "open", 0],
      [100, "open", "halfOpen", 0],
      [100, "halfOpen", "closed", 0],
    ]);
  });

  it("reports a change once, though failures of the period before go on landing", () => {
    const lab = new Lab();
    const stack = lab.stack([breaker(machine())]);
    for (let i = 0; i < 7; i++) lab.start(stack, lab.throws(fault("transient"), 10 + i));
    lab.runtime.runToIdle();
    expect(lab.log.filter((type) => type === "breaker.changed")).toHaveLength(1);
  });

  it("marks its probes, and gives them a timeout of their own", () => {
    const { lab, stack, shared } = opened({ probeTimeoutMs: 30 });
    lab.runtime.advance(100);
    const probe = lab.start(stack, lab.hangs);
    expect(probe.sent[0]).toMatchObject({ kind: "probe", timeoutMs: 30 });
    lab.runtime.advance(30);
    expect(only(probe, "failed").ended).toBe("timeout");
    expect(shared.state).toMatchObject({ name: "open", until: 230 });
  });

  it("marks and limits the attempts of a probe that is a whole sequence, and none of them is hedged", () => {
    const { lab, shared } = opened({ probeTimeoutMs: 30 });
    const stack = lab.stack([
      breaker(shared),
      retry({ attempts: 2, backoff: immediately }),
      hedge({ delayMs: 10 }),
      bulkhead({ limit: 5 }),
      timeout(1000),
    ]);
    lab.runtime.advance(100);
    const probe = lab.start(stack, lab.hangs);
    lab.runtime.advance(59);
    expect(probe.sent.map(({ kind, timeoutMs }) => [kind, timeoutMs])).toEqual([
      ["probe", 30],
      ["retry", 30],
    ]);
    expect(shared.state.name).toBe("halfOpen");
    lab.runtime.advance(1);
    expect(only(probe, "failed").ended).toBe("timeout");
    expect(shared.state).toMatchObject({ name: "open", until: 260 });
  });

  it("does not hedge it from outside, either", () => {
    const { lab, shared } = opened();
    const stack = lab.stack([
      hedge({ delayMs: 10 }),
      breaker(shared),
      retry({ attempts: 2, backoff: immediately }),
      timeout(30),
    ]);
    lab.runtime.advance(100);
    const probe = lab.start(stack, lab.hangs);
    lab.runtime.advance(60);
    expect(probe.sent.map(({ kind }) => kind)).toEqual(["probe", "retry"]);
    expect(lab.events).toContainEqual(expect.objectContaining({ type: "hedge.stopped", by: "hedge" }));
  });

  it("lets only its probes through while it is half-open", () => {
    const { lab, stack } = opened();
    lab.runtime.advance(100);
    const calls = Array.from({ length: 100 }, () => lab.start(stack, lab.hangs));
    expect(calls.filter((call) => call.sent.length > 0)).toHaveLength(2);
    for (const call of calls.slice(2))
      expect(only(call, "rejected")).toMatchObject({ by: "breaker", reason: "half-open, probes are out" });
  });

  it("holds no probe while its call waits for a place", () => {
    const lab = new Lab();
    const shared = machine({ probes: 1 });
    const stack = lab.stack([
      breaker(shared),
      bulkhead({ limit: 1, queue: { maxWaiting: 5 } }),
      timeout(500),
    ]);
    const hanging = lab.start(stack, (attempt) => lab.runtime.after(150, () => attempt.succeed(1)));
    const waiting = lab.start(stack, lab.gives("waited"));
    for (let i = 0; i < 4; i++) {
      const { state } = shared;
      if (state.name === "closed") shared.record(state, "failure", 0, () => 0);
    }
    lab.runtime.advance(120);
    expect(shared.state.name).toBe("open");
    lab.runtime.advance(30);
    expect(only(hanging, "ok").value).toBe(1);
    expect(only(waiting, "ok").value).toBe("waited");
    expect(waiting.sent[0]?.kind).toBe("probe");
    expect(shared.state.name).toBe("closed");
  });

  it("refuses nothing while it observes, and says what it would have refused", () => {
    const lab = new Lab();
    const shared = machine({ mode: "observe" });
    const stack = lab.stack([breaker(shared)]);
    for (let i = 0; i < 6; i++) lab.start(stack, lab.throws(fault("transient")));
    expect(shared.state.name).toBe("open");
    expect(lab.log.filter((type) => type === "breaker.observed")).toHaveLength(2);
    expect(lab.log.filter((type) => type === "attempt.sent")).toHaveLength(6);
    lab.runtime.advance(100);
    const probe = lab.start(stack, lab.gives(1));
    expect(probe.sent[0]?.kind).toBe("original");
    lab.start(stack, lab.gives(1));
    expect(shared.state.name).toBe("closed");
  });

  it("can be forced either way, and goes on underneath", () => {
    const { lab, stack, shared } = opened();
    shared.mode = "forcedClosed";
    expect(only(lab.start(stack, lab.gives(1)), "ok").value).toBe(1);
    expect(shared.state.name).toBe("open");
    shared.mode = "forcedOpen";
    lab.runtime.advance(500);
    expect(only(lab.start(stack, lab.gives(1)), "rejected").reason).toBe("forced open");
    shared.mode = "enforce";
    lab.start(stack, lab.gives(1));
    lab.start(stack, lab.gives(1));
    expect(shared.state.name).toBe("closed");
  });

  it("counts the dependency's own overload or not, as told", () => {
    const count = (throttling: "failure" | "ignored"): string => {
      const { lab, shared } = { lab: new Lab(), shared: machine({ throttling }) };
      const stack = lab.stack([breaker(shared)]);
      for (let i = 0; i < 4; i++) lab.start(stack, lab.throws(fault("throttling")));
      return shared.state.name;
    };
    expect([count("failure"), count("ignored")]).toEqual(["open", "closed"]);
  });

  it("counts local refusals within only when told to (to reproduce C7)", () => {
    const count = (localRefusals: "failure" | "ignored"): string => {
      const { lab, shared } = { lab: new Lab(), shared: machine({ localRefusals }) };
      const stack = lab.stack([breaker(shared), bulkhead({ limit: 1 })]);
      lab.start(stack, lab.hangs);
      for (let i = 0; i < 10; i++) lab.start(stack, lab.hangs);
      return shared.state.name;
    };
    expect([count("failure"), count("ignored")]).toEqual(["open", "closed"]);
  });

  it("is one breaker for all who share its machine", () => {
    const { lab, shared } = opened();
    const other = lab.stack([breaker(shared), bulkhead({ limit: 5 })]);
    expect(only(lab.start(other, lab.gives(1)), "rejected").by).toBe("breaker");
  });
});
