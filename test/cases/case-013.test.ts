// Case 013: a breaker outside the retry loop counts once per exhausted loop.
import { expect, it } from "vitest";
import {
  BreakerPolicy,
  breaker,
  CircuitBreaker,
  type Guard,
  immediately,
  retry,
} from "../../src/core/index.ts";
import { fault, Lab } from "../lib/lab.ts";

/** Calls a dead dependency until the breaker is open; how many attempts went out, and how many calls were made. */
function untilOpen(order: (breaker: Guard, retry: Guard) => Guard[]): { wire: number; calls: number } {
  const lab = new Lab();
  const machine = new CircuitBreaker(new BreakerPolicy({ window: { calls: 5 }, failureRate: 1 }));
  const stack = lab.stack(order(breaker(machine), retry({ attempts: 3, backoff: immediately })));
  let calls = 0;
  for (; machine.state.name === "closed"; calls++) lab.start(stack, lab.throws(fault("transient")));
  return { wire: lab.log.filter((type) => type === "attempt.sent").length, calls };
}

it("case 013: within the retry, the library's own order, it counts attempts: open after 5 on the wire", () => {
  expect(untilOpen((inner, outer) => [outer, inner])).toEqual({ wire: 5, calls: 2 });
});

it("case 013: around the retry it counts calls: open after 5 of them, 15 on the wire, and the log says 15", () => {
  expect(untilOpen((outer, inner) => [outer, inner])).toEqual({ wire: 15, calls: 5 });
});
