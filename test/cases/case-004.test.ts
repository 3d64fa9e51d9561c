// Case 004: half-open opens the flood-gate.
import { expect, it } from "vitest";
import { BreakerPolicy, breaker, CircuitBreaker, fixed, timeout } from "../../src/core/index.ts";
import { fault, Lab, only } from "../lib/lab.ts";

it("case 004: of 100 callers in one tick three probes go out, the rest are refused in that tick", () => {
  const lab = new Lab();
  const machine = new CircuitBreaker(
    new BreakerPolicy({ window: { calls: 5 }, openMs: 30_000, reopen: fixed(), probes: 3 }),
  );
  const stack = lab.stack([breaker(machine), timeout(30_000)]);
  for (let i = 0; i < 5; i++) lab.start(stack, lab.throws(fault("transient")));
  const early = only(lab.start(stack, lab.hangs), "rejected");
  expect(early).toMatchObject({ by: "breaker", retryAfterMs: 30_000 });
  lab.runtime.advance(30_000);
  const calls = Array.from({ length: 100 }, () => lab.start(stack, lab.hangs));
  expect(calls.filter((call) => call.sent.length > 0)).toHaveLength(3);
  const refused = calls.filter((call) => call.answers.length > 0);
  expect(refused).toHaveLength(97);
  for (const call of refused) expect(only(call, "rejected").by).toBe("breaker");
  lab.runtime.advance(30_000);
  expect(machine.state.name).toBe("open");
});
