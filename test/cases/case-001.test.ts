// Case 001: a half-open breaker never resolves because of the minimum-volume rule.
import { expect, it } from "vitest";
import { BreakerPolicy, breaker, CircuitBreaker, fixed } from "../../src/core/index.ts";
import { fault, Lab } from "../lib/lab.ts";

it("case 001: a single failed probe opens again at once, whatever the minimum, and the next cool-down is offered", () => {
  const lab = new Lab();
  const machine = new CircuitBreaker(
    new BreakerPolicy({ window: { ms: 1000 }, minimumCalls: 5, openMs: 5000, reopen: fixed(), probes: 1 }),
  );
  const stack = lab.stack([breaker(machine)]);
  for (let i = 0; i < 5; i++) lab.start(stack, lab.throws(fault("transient")));
  for (let round = 1; round <= 5; round++) {
    expect(machine.state.name).toBe("open");
    lab.runtime.advance(5000); // the window has long rolled to empty
    const probe = lab.start(stack, lab.throws(fault("transient")));
    expect([probe.sent.length, machine.state.name]).toEqual([1, "open"]);
  }
  lab.runtime.advance(5000);
  lab.start(stack, lab.gives(1));
  expect(machine.state.name).toBe("closed");
});
