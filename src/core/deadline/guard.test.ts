import { describe, expect, it } from "vitest";
import { fault, Lab, only } from "../../../test/lib/lab.ts";
import { constant } from "../backoff/machine.ts";
import { bulkhead } from "../bulkhead/guard.ts";
import { retry } from "../retry/guard.ts";
import { timeout } from "../timeout/guard.ts";
import { deadline } from "./guard.ts";

describe("deadline", () => {
  it("bounds attempts, waits and backoffs together", () => {
    const lab = new Lab();
    const stack = lab.stack([
      deadline(100),
      retry({ attempts: 9, backoff: constant(30) }),
      bulkhead({ limit: 1, queue: { maxWaiting: 5 } }),
      timeout(25),
    ]);
    const attempts = lab.start(stack, lab.hangs);
    lab.runtime.advance(25);
    const waits = lab.start(stack, lab.gives(1));
    lab.runtime.advance(75);
    expect(only(attempts, "failed").stoppedBy).toMatchObject({ by: "deadline" });
    lab.runtime.advance(25);
    expect([only(waits, "rejected").by, waits.answeredAt]).toEqual(["deadline", 125]);
  });

  it("is the sooner of its own and the caller's", () => {
    const lab = new Lab();
    const stack = lab.stack([deadline(100)]);
    expect(lab.start(stack, lab.hangs).sent[0]?.deadline).toBe(100);
    expect(lab.start(stack, lab.hangs, { withinMs: 40 }).sent[0]?.deadline).toBe(40);
    expect(lab.start(stack, lab.hangs, { withinMs: 400 }).sent[0]?.deadline).toBe(100);
  });

  it("starts when its layer starts: an outer one bounds all, an inner one each", () => {
    const lab = new Lab();
    const inner = lab.stack([retry({ attempts: 3, backoff: constant(50) }), deadline(20)]);
    const call = lab.start(inner, [lab.throws(fault("transient"), 10), lab.gives("second", 10)]);
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.sent[1]?.deadline]).toEqual(["second", 80]);
  });

  it("sends nothing when it has passed, or too little is left of it", () => {
    const lab = new Lab();
    const stack = lab.stack([timeout(100)], { minUsefulMs: 20 });
    for (const withinMs of [0, -5]) {
      const late = lab.start(stack, lab.gives(1), { withinMs });
      expect(only(late, "rejected")).toMatchObject({ by: "deadline", reason: "expired" });
      expect(late.sent).toEqual([]);
    }
    expect(only(lab.start(stack, lab.gives(1), { withinMs: 19 }), "rejected").reason).toBe(
      "too little time left",
    );
    expect(only(lab.start(stack, lab.gives(1), { withinMs: 20 }), "ok").value).toBe(1);
  });
});
