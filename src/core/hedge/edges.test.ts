// What a hedge leaves behind, and what it learns from those that it gives up.
import { expect, it } from "vitest";
import { fault, Lab, only } from "../../../test/lib/lab.ts";
import { RetryBudget } from "../budget/machine.ts";
import { Bulkhead, bulkhead } from "../bulkhead/guard.ts";
import { retry } from "../retry/guard.ts";
import { timeout } from "../timeout/guard.ts";
import { HedgeGuard, hedge } from "./guard.ts";

it("gives back the token of a hedge that was still waiting to begin its own sequence", () => {
  const lab = new Lab();
  const budget = new RetryBudget({ ratio: 0, burst: 1 });
  const cap = new Bulkhead({ limit: 2, queue: { maxWaiting: 5 } }, lab.runtime);
  const stack = lab.stack([hedge({ delayMs: 10 }), bulkhead(cap), retry({ attempts: 2 })], { budget });
  lab.start(lab.stack([bulkhead(cap)]), lab.hangs);
  const call = lab.start(stack, lab.hangs);
  lab.runtime.advance(10);
  expect([budget.reserved, cap.waiting]).toEqual([1, 1]);
  call.process.cancel("gone");
  expect(only(call, "cancelled").reason).toBe("gone");
  expect([budget.reserved, budget.repeats, cap.waiting]).toEqual([0, 0, 0]);
});

it("answers with what the dependency said, not with the refusal of a hedge that came after it", () => {
  const lab = new Lab();
  const cap = new Bulkhead({ limit: 1, queue: { maxWaiting: 5, maxWaitMs: 50 } }, lab.runtime);
  const stack = lab.stack([hedge({ delayMs: 10 }), bulkhead(cap), timeout(30)]);
  // The work goes on after its time, and so keeps its place.
  const call = lab.start(stack, lab.hangs);
  lab.runtime.advance(10);
  expect(cap.waiting).toBe(1);
  lab.runtime.advance(100);
  expect(only(call, "failed").ended).toBe("timeout");
});

it("learns from an attempt that it gives up: it would have taken as long, at least", () => {
  const lab = new Lab();
  const delayMs = { percentile: 0.5, minSamples: 1 };
  const binding: HedgeGuard[] = [];
  const stack = lab.stack([
    {
      name: "hedge",
      bind: (at) => {
        const guard = new HedgeGuard({ delayMs }, at);
        binding.push(guard);
        return guard;
      },
    },
  ]);
  lab.start(stack, lab.gives(1, 10));
  lab.runtime.runToIdle();
  for (let n = 0; n < 5; n++) {
    const call = lab.start(stack, [lab.hangs, lab.gives("hedge", 1)]);
    lab.runtime.advance(100);
    expect(call.sent.length).toBe(2);
  }
  expect(binding[0]?.policy.delayMs(lab.runtime.now())).toBeGreaterThan(8);
});

it("waits for both when the first one fails, and answers with the last failure", () => {
  const lab = new Lab();
  const stack = lab.stack([hedge({ delayMs: 10 })]);
  const call = lab.start(stack, [lab.throws(fault("transient"), 15), lab.throws(fault("throttling"), 20)]);
  lab.runtime.advance(29);
  expect(call.answers).toEqual([]);
  lab.runtime.advance(1);
  expect(only(call, "failed").class).toBe("throttling");
});
