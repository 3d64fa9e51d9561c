// Case 017: a breaker's state is restored from outside.
import { expect, it } from "vitest";
import { BreakerPolicy, breaker, CircuitBreaker, fixed } from "../../src/core/index.ts";
import { fault, Lab, only } from "../lib/lab.ts";

const policy = new BreakerPolicy({ window: { calls: 2 }, openMs: 1_000, reopen: fixed(), probes: 2 });

/** A breaker that has been opened, in a world of its own. */
function opened() {
  const lab = new Lab();
  const machine = new CircuitBreaker(policy);
  const stack = lab.stack([breaker(machine)]);
  for (let i = 0; i < 2; i++) lab.start(stack, lab.throws(fault("transient")));
  return { lab, machine, stack };
}

/** The same state in another process: another clock, and nothing but JSON between. */
function restored({ lab, machine }: ReturnType<typeof opened>) {
  const other = new Lab();
  other.runtime.advance(77_000);
  const copy = new CircuitBreaker(policy);
  copy.restore(JSON.parse(JSON.stringify(machine.snapshot(lab.runtime.now()))), other.runtime.now());
  return { lab: other, machine: copy, stack: other.stack([breaker(copy)]) };
}

it("case 017: open half-way through its cool-down, it finishes what is left of it", () => {
  const from = opened();
  from.lab.runtime.advance(400);
  const { lab, machine, stack } = restored(from);
  lab.runtime.advance(599);
  expect(only(lab.start(stack, lab.gives(1)), "rejected")).toMatchObject({ by: "breaker", retryAfterMs: 1 });
  lab.runtime.advance(1);
  for (let probe = 1; probe <= 2; probe++)
    expect(only(lab.start(stack, lab.gives(probe)), "ok").value).toBe(probe);
  expect([machine.state.name, lab.runtime.pending]).toEqual(["closed", 0]);
});

it.each(["passes", "fails"])(
  "case 017: half-open with one of two passed, the next call is a probe that %s",
  (end) => {
    const from = opened();
    from.lab.runtime.advance(1_000);
    from.lab.start(from.stack, from.lab.gives(1));
    from.lab.start(from.stack, from.lab.hangs); // a probe under way, which the other process knows nothing of
    expect(from.machine.state.name).toBe("halfOpen");
    const { lab, machine, stack } = restored(from);
    const call = lab.start(stack, end === "passes" ? lab.gives(1) : lab.throws(fault("transient")));
    expect(call.sent.map(({ kind }) => kind)).toEqual(["probe"]);
    expect(machine.state.name).toBe(end === "passes" ? "closed" : "open");
  },
);
