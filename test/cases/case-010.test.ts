// Case 010: the success counter survives from the previous half-open period.
import { expect, it } from "vitest";
import { BreakerPolicy, breaker, CircuitBreaker, fixed } from "../../src/core/index.ts";
import { fault, Lab } from "../lib/lab.ts";

it("case 010: each half-open period needs its own two successes", () => {
  const lab = new Lab();
  const machine = new CircuitBreaker(
    new BreakerPolicy({ window: { calls: 2 }, openMs: 100, reopen: fixed(), probes: 2 }),
  );
  const stack = lab.stack([breaker(machine)]);
  const fail = (): unknown => lab.start(stack, lab.throws(fault("transient")));
  const pass = (): unknown => lab.start(stack, lab.gives(1));
  fail();
  fail();
  for (let round = 0; round < 3; round++) {
    lab.runtime.advance(100);
    pass();
    expect(machine.state).toMatchObject({ name: "halfOpen", passed: 1 });
    fail();
    expect(machine.state.name).toBe("open");
  }
  lab.runtime.advance(100);
  pass();
  expect(machine.state.name).toBe("halfOpen");
  pass();
  expect(machine.state.name).toBe("closed");
});
