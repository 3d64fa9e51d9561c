// Case 008: a threshold of 100 % can never be exceeded.
import { expect, it } from "vitest";
import { BreakerPolicy, breaker, CircuitBreaker, OptionError } from "../../src/core/index.ts";
import { fault, Lab } from "../lib/lab.ts";

/** The state after ten calls, of which the last so many failed, or were slow: only such a one opens a breaker. */
function after(options: object, failing: number, slow: number): string {
  const lab = new Lab();
  const machine = new CircuitBreaker(
    new BreakerPolicy({ window: { calls: 10 }, minimumCalls: 10, slowCallMs: 100, ...options }),
  );
  const stack = lab.stack([breaker(machine)]);
  for (let i = 0; i < 10; i++) {
    const takesMs = i >= 10 - slow ? 100 : 99;
    lab.start(stack, i >= 10 - failing ? lab.throws(fault("transient"), takesMs) : lab.gives(1, takesMs));
  }
  lab.runtime.advance(100);
  return machine.state.name;
}

it.each([
  [1, 9, "closed"],
  [1, 10, "open"],
  [0.1, 0, "closed"],
  [0.1, 1, "open"],
  [0.3, 2, "closed"],
  [0.3, 3, "open"],
])("case 008: a failure rate of %d, %d of 10 failed: %s", (failureRate, failing, state) => {
  expect(after({ failureRate }, failing, 0)).toBe(state);
});

it.each([
  [1, 9, "closed"],
  [1, 10, "open"],
  [0.1, 0, "closed"],
  [0.1, 1, "open"],
  [0.7, 6, "closed"],
  [0.7, 7, "open"],
])("case 008: a slow rate of %d, %d of 10 slow: %s", (slowCallRate, slow, state) => {
  expect(after({ slowCallRate }, 0, slow)).toBe(state);
});

it("case 008: what would open without any failure, or never, is refused by name", () => {
  for (const field of ["failureRate", "slowCallRate"])
    for (const value of [0, -0.1, 1.0001, 100]) {
      const making = (): unknown => new BreakerPolicy({ [field]: value });
      expect(making).toThrow(OptionError);
      expect(making).toThrow(`breaker.${field} is ${value}`);
    }
});
