// Case 011: impossible state under load.
import { expect, it } from "vitest";
import { BreakerPolicy, breaker, CircuitBreaker, fixed, SeededRandom } from "../../src/core/index.ts";
import { fault, Lab } from "../lib/lab.ts";

const policy = new BreakerPolicy({ window: { calls: 3 }, openMs: 100, reopen: fixed(), probes: 1 });

it("case 011: 50 calls are refused while the probe succeeds, and the next call passes", () => {
  const lab = new Lab();
  const machine = new CircuitBreaker(policy);
  const stack = lab.stack([breaker(machine)]);
  for (let i = 0; i < 3; i++) lab.start(stack, lab.throws(fault("transient")));
  lab.runtime.advance(100);
  lab.start(stack, (attempt) => {
    for (let i = 0; i < 25; i++) lab.start(stack, lab.gives(1));
    lab.runtime.after(10, () => attempt.succeed(1));
  });
  lab.runtime.advance(9);
  for (let i = 0; i < 25; i++) lab.start(stack, lab.gives(1));
  lab.runtime.advance(1);
  expect(lab.log.filter((type) => type === "attempt.refused")).toHaveLength(50);
  expect(machine.state.name).toBe("closed");
  expect(lab.start(stack, lab.gives("next")).answers).toMatchObject([{ kind: "ok", value: "next" }]);
});

it("case 011: whatever the order, it is in one state, its changes form a chain, and one probe is out at most", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new SeededRandom(seed);
    const lab = new Lab(seed);
    const machine = new CircuitBreaker(policy);
    const stack = lab.stack([breaker(machine)]);
    let probesOut = 0;
    for (let i = 0; i < 60; i++) {
      const takesMs = Math.floor(random.next() * 60);
      const end = random.next() < 0.5 ? lab.gives(1, takesMs) : lab.throws(fault("transient"), takesMs);
      const call = lab.start(stack, (attempt) => {
        if (attempt.kind === "probe") expect(++probesOut).toBe(1);
        end(attempt);
        if (attempt.kind === "probe") lab.runtime.after(takesMs, () => probesOut--);
      });
      if (random.next() < 0.2) lab.runtime.after(random.next() * 50, () => call.process.cancel("gone"));
      lab.runtime.advance(Math.floor(random.next() * 40));
      if (machine.state.name === "halfOpen")
        expect(machine.state.probes.length + machine.state.passed).toBeLessThan(2);
    }
    const changes = lab.events.flatMap((event) => (event.type === "breaker.changed" ? [event] : []));
    let state = "closed";
    for (const { from, to } of changes) {
      expect(from).toBe(state);
      state = to;
    }
    expect(machine.state.name).toBe(state);
  }
});
