import { describe, expect, it } from "vitest";
import { Lab, only } from "../../../test/lib/lab.ts";
import { bulkhead } from "../bulkhead/guard.ts";
import { TimeoutError } from "../errors.ts";
import { MAX_TIMER_MS } from "../runtime.ts";
import { timeout } from "./guard.ts";

describe("timeout", () => {
  it("gives an attempt up after its time, and no sooner", () => {
    const lab = new Lab();
    const stack = lab.stack([timeout(50)]);
    const reasons: unknown[] = [];
    const call = lab.start(stack, (attempt) =>
      attempt.signal.addEventListener("abort", () => reasons.push(attempt.signal.reason)),
    );
    lab.runtime.advance(49);
    expect(call.answers).toEqual([]);
    lab.runtime.advance(1);
    const { error, ended, class: failureClass, effect } = only(call, "failed");
    expect({ ended, failureClass, effect }).toEqual({
      ended: "timeout",
      failureClass: "transient",
      effect: "unknown",
    });
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ limitMs: 50, clipped: false, dependency: "stock", operation: "view" });
    expect(reasons).toEqual([error]);
  });

  it("says when it was the deadline that cut it short", () => {
    const lab = new Lab();
    const call = lab.start(lab.stack([timeout(50)]), lab.hangs, { withinMs: 30 });
    lab.runtime.advance(30);
    expect(only(call, "failed")).toMatchObject({ ended: "clipped", error: { limitMs: 30, clipped: true } });
    const same = lab.start(lab.stack([timeout(50)]), lab.hangs, { withinMs: 50 });
    lab.runtime.advance(50);
    expect(only(same, "failed").ended).toBe("timeout");
  });

  it("lets a late end change nothing but the count", () => {
    const lab = new Lab();
    const stack = lab.stack([timeout(50)]);
    const call = lab.start(stack, lab.gives("late", 80));
    lab.runtime.advance(50);
    expect(stack.leaf.abandoned).toBe(1);
    lab.runtime.advance(30);
    expect([only(call, "failed").ended, stack.leaf.abandoned]).toEqual(["timeout", 0]);
    expect(lab.log.slice(-1)).toEqual(["attempt.ended"]);
  });

  it("tells the work its time left, and makes a signal only when one is read", () => {
    const lab = new Lab();
    const stack = lab.stack([timeout(50)]);
    const call = lab.start(stack, lab.hangs);
    const [attempt] = call.sent;
    lab.runtime.advance(20);
    expect(attempt?.timeLeftMs).toBe(30);
    lab.runtime.advance(30);
    expect(attempt?.timeLeftMs).toBe(0);
    expect(attempt?.signal.aborted).toBe(true);
    const heard: unknown[] = [];
    attempt?.onAbort((reason) => heard.push(reason));
    expect(heard).toEqual([attempt?.signal.reason]);
  });

  it("takes the longest timer there is, and nobody waits longer for a deadline", () => {
    const lab = new Lab();
    lab.start(lab.stack([timeout(MAX_TIMER_MS)]), lab.hangs);
    expect(lab.runtime.nextAt).toBe(MAX_TIMER_MS);
    lab.start(lab.stack([]), lab.hangs, { withinMs: 1e13 });
    expect(lab.runtime.pending).toBe(1);
  });

  it("stands innermost, or is refused", () => {
    const lab = new Lab();
    expect(() => lab.stack([timeout(50), bulkhead({ limit: 1 })])).toThrow(/innermost/);
  });
});
