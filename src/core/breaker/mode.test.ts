import { expect, it } from "vitest";
import { VirtualRuntime } from "../../testing/virtual-runtime.ts";
import { CircuitBreaker } from "./machine.ts";
import { BreakerPolicy } from "./options.ts";

it("refuses a mode that there is not: a typo in an emergency must not pass unnoticed", () => {
  const breaker = new CircuitBreaker(new BreakerPolicy({}));
  expect(() => {
    breaker.mode = "forcedopen" as never;
  }).toThrow(
    'breaker.mode is "forcedopen"; allowed: "enforce" or "observe" or "forcedOpen" or "forcedClosed"',
  );
  expect(breaker.mode).toBe("enforce");
  breaker.mode = "forcedOpen";
  expect(breaker.mode).toBe("forcedOpen");
});

it.each([Number.NaN, -1, "x", Number.POSITIVE_INFINITY, 2 ** 31])(
  "arms nothing for a delay of %s",
  (delay) => {
    const runtime = new VirtualRuntime();
    expect(() => runtime.after(delay as number, () => {})).toThrow("delayMs is");
    expect(runtime.pending).toBe(0);
  },
);
