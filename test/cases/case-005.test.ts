// Case 005: the breaker counts the caller's own cancellation.
import { expect, it } from "vitest";
import { BreakerPolicy, breaker, CircuitBreaker } from "../../src/core/index.ts";
import { Lab } from "../lib/lab.ts";

it("case 005: 20 calls that their callers leave are neither failures nor successes, and are told apart", () => {
  const lab = new Lab();
  const machine = new CircuitBreaker(new BreakerPolicy({ window: { calls: 10 } }));
  const stack = lab.stack([breaker(machine)]);
  for (let i = 0; i < 20; i++) {
    const call = lab.start(stack, lab.gives("healthy", 50));
    lab.runtime.advance(10);
    call.process.cancel("the caller has left");
  }
  lab.runtime.runToIdle();
  expect(machine.state).toMatchObject({ name: "closed", window: { total: 0, failures: 0 } });
  const endings = lab.events.flatMap((event) => (event.type === "attempt.answered" ? [event.ending] : []));
  expect(endings).toEqual(new Array(20).fill("cancelled"));
});
