// Case 028: remaining time of zero or less is passed on as "no timeout".
import { describe, expect, it } from "vitest";
import { constant, deadline, immediately, retry, timeout } from "../../src/core/index.ts";
import { fault, Lab, only, type Script } from "../lib/lab.ts";

describe("case 028", () => {
  it("no attempt starts with less than the least useful time, and the call ends in time", () => {
    const lab = new Lab();
    const stack = lab.stack([deadline(100), retry({ attempts: 3, backoff: immediately }), timeout(1000)], {
      minUsefulMs: 3,
    });
    const lefts: number[] = [];
    const seeing =
      (script: Script): Script =>
      (attempt) => {
        lefts.push(attempt.timeLeftMs);
        script(attempt);
      };
    const call = lab.start(stack, [
      seeing(lab.throws(fault("transient"), 95)),
      seeing(lab.throws(fault("transient"), 4)),
      seeing(lab.hangs),
    ]);
    lab.runtime.runToIdle();
    expect(lefts).toEqual([100, 5]);
    expect(only(call, "failed").stoppedBy).toMatchObject({ by: "deadline" });
    expect(call.answeredAt).toBe(99);
  });

  it("what is handed on is never 0 or less, and never more than is left", () => {
    for (let backoffMs = 0; backoffMs <= 110; backoffMs++) {
      const lab = new Lab();
      const stack = lab.stack([
        deadline(100),
        retry({ attempts: 9, backoff: constant(backoffMs) }),
        timeout(60),
      ]);
      const call = lab.start(stack, (attempt) => {
        expect(attempt.timeLeftMs).toBeGreaterThan(0);
        expect(attempt.timeLeftMs).toBeLessThanOrEqual(Math.min(60, 100 - lab.runtime.now()));
        lab.throws(fault("transient"), 7)(attempt);
      });
      lab.runtime.advance(100);
      expect(call.answers).toHaveLength(1);
      expect(call.answeredAt).toBeLessThanOrEqual(100);
    }
  });
});
