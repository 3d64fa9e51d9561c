// Case 002: simultaneous failures cancel the re-open timer.
import { describe, expect, it } from "vitest";
import { BreakerPolicy, breaker, CircuitBreaker, fixed, growing } from "../../src/core/index.ts";
import { fault, Lab } from "../lib/lab.ts";

// Growth shows what a fixed time hides: how many openings were counted.
describe.each([
  ["fixed", fixed()],
  ["growing", growing({ jitter: 0 })],
])("case 002: reopening %s", (_name, reopen) => {
  it.each([6, 7, 8, 20, 50])("%d failures in one tick are one opening, with one cool-down", (count) => {
    const lab = new Lab();
    const machine = new CircuitBreaker(
      new BreakerPolicy({ window: { calls: 5 }, failureRate: 1, openMs: 1000, reopen, probes: 1 }),
    );
    const stack = lab.stack([breaker(machine)]);
    for (let i = 0; i < count; i++) lab.start(stack, lab.throws(fault("transient"), 10));
    lab.runtime.advance(10);
    expect(machine.state).toEqual({ name: "open", until: 1010 });
    expect(lab.log.filter((type) => type === "breaker.changed")).toHaveLength(1);
    lab.runtime.advance(999);
    expect(lab.start(stack, lab.gives(1)).sent).toEqual([]);
    lab.runtime.advance(1);
    expect(lab.start(stack, lab.gives(1)).sent).toHaveLength(1);
    expect(machine.state.name).toBe("closed");
  });
});
