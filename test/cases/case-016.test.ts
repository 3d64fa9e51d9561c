// Case 016: half-open probes burn the workers they are meant to save.
import { expect, it } from "vitest";
import {
  type BreakerOptions,
  BreakerPolicy,
  Bulkhead,
  breaker,
  bulkhead,
  CircuitBreaker,
  fixed,
  timeout,
} from "../../src/core/index.ts";
import { fault, Lab } from "../lib/lab.ts";

/** Ten workers, each calling a dependency that hangs, for a minute after the breaker has opened. The share of their time lost. */
function shareLost(options: BreakerOptions): number {
  const lab = new Lab();
  const machine = new CircuitBreaker(
    new BreakerPolicy({ window: { calls: 10 }, openMs: 30_000, reopen: fixed(), ...options }),
  );
  const workers = new Bulkhead({ limit: 10 }, lab.runtime);
  const stack = lab.stack([breaker(machine), bulkhead(workers), timeout(30_000)]);
  const start = () => lab.start(stack, (attempt) => attempt.onAbort((reason) => attempt.fail(reason)));
  for (let i = 0; i < 10; i++) lab.start(stack, lab.throws(fault("transient")));
  expect(machine.state.name).toBe("open");
  let lost = 0;
  for (let ms = 0; ms < 60_000; ms += 50) {
    start();
    lost += workers.gate.held * 50;
    lab.runtime.advance(50);
  }
  return lost / (10 * 60_000);
}

it("case 016: probes with a short timeout of their own cost under 5 % of the workers' time", () => {
  expect(shareLost({ probes: 2, probeTimeoutMs: 1000 })).toBeLessThan(0.05);
});

it("case 016: with the normal timeout, and as many as there are workers, they cost a third of it and more", () => {
  expect(shareLost({ probes: 10 })).toBeGreaterThan(0.33);
});
