import { describe, expect, it } from "vitest";
import { Lab, only } from "../../test/lib/lab.ts";
import { bulkhead } from "./bulkhead/guard.ts";
import { hedge } from "./hedge/guard.ts";
import { retry } from "./retry/guard.ts";
import { timeout } from "./timeout/guard.ts";

describe.each([
  ["fused", false],
  ["generators", true],
])("work that cancels its own attempt, %s", (_name, generators) => {
  const guards = () => [retry({ attempts: 3 }), bulkhead({ limit: 1 }), timeout(50)];

  it.each([
    ["at once", 0],
    ["later", 10],
  ])("%s cancels its call, and is not retried", (_when, afterMs) => {
    const lab = new Lab();
    const stack = lab.stack(guards(), { generators });
    const call = lab.start(stack, (attempt) => {
      const giveUp = (): void => attempt.cancel("enough");
      if (afterMs === 0) giveUp();
      else lab.runtime.after(afterMs, giveUp);
    });
    lab.runtime.advance(afterMs);
    expect(only(call, "cancelled").reason).toBe("enough");
    expect([call.sent.length, stack.leaf.abandoned]).toEqual([1, 1]);
    call.sent[0]?.succeed("at last");
    expect(stack.leaf.abandoned).toBe(0);
    expect(only(lab.start(stack, lab.gives(1)), "ok").value).toBe(1);
  });

  it("does so outside of the kernel, too, where no loop is running", () => {
    const lab = new Lab();
    const call = lab.start(lab.stack(guards(), { generators }), lab.hangs);
    call.sent[0]?.cancel("enough");
    expect(only(call, "cancelled").reason).toBe("enough");
  });
});

it("a hedge goes on when the attempt before it cancels itself", () => {
  const lab = new Lab();
  const call = lab.start(lab.stack([hedge({ delayMs: 10 }), timeout(50)]), [
    lab.hangs,
    lab.gives("hedged", 10),
  ]);
  lab.runtime.advance(10);
  call.sent[0]?.cancel("enough");
  expect(call.answers).toEqual([]);
  lab.runtime.advance(10);
  expect(only(call, "ok").value).toBe("hedged");
});
