import { describe, expect, it } from "vitest";
import { fault, Lab, only } from "../../../test/lib/lab.ts";
import { constant, immediately } from "../backoff/machine.ts";
import { RetryBudget } from "../budget/machine.ts";
import { bulkhead } from "../bulkhead/guard.ts";
import { PLAIN_CALL } from "../call.ts";
import { coalesce } from "../coalesce/guard.ts";
import { timeout } from "../timeout/guard.ts";
import { retry } from "./guard.ts";

const transient = fault("transient");

/** Both ways to drive the library's own order. */
const drivers = [
  ["fused", false],
  ["generators", true],
] as const;

describe.each(drivers)("retry, %s", (_name, generators) => {
  const made = (attempts: number, backoff: Parameters<typeof retry>[0] = {}, budget?: RetryBudget) => {
    const lab = new Lab();
    const guards = [retry({ attempts, backoff: constant(100), ...backoff }), timeout(50)];
    return { lab, stack: lab.stack(guards, budget === undefined ? { generators } : { generators, budget }) };
  };

  it("tries again after the backoff, and reports what came of it", () => {
    const { lab, stack } = made(3);
    const call = lab.start(stack, [lab.throws(transient), lab.hangs, lab.gives("third")]);
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.answeredAt]).toEqual(["third", 250]);
    expect(call.sent.map(({ number, kind, sentAt }) => [number, kind, sentAt])).toEqual([
      [1, "original", 0],
      [2, "retry", 100],
      [3, "retry", 250],
    ]);
  });

  it("reports the dependency's last word, and what stopped it", () => {
    const { lab, stack } = made(2);
    const second = fault("transient");
    const call = lab.start(stack, [lab.throws(transient), lab.throws(second)]);
    lab.runtime.runToIdle();
    const exit = only(call, "failed");
    expect(exit.error).toBe(second);
    expect(exit.stoppedBy).toMatchObject({ by: "retry", reason: "attempts spent" });
  });

  it("does not retry a local refusal, and reports what the dependency said before it", () => {
    const lab = new Lab();
    const stack = lab.stack([retry({ backoff: constant(100) }), bulkhead({ limit: 1 })], { generators });
    const call = lab.start(stack, lab.throws(transient));
    lab.start(stack, lab.hangs);
    lab.runtime.runToIdle();
    const exit = only(call, "failed");
    expect(exit.error).toBe(transient);
    expect(exit.stoppedBy).toMatchObject({ by: "bulkhead", reason: "full" });
    expect(call.sent).toHaveLength(1);
    const refused = lab.start(stack, lab.gives(1));
    expect(only(refused, "rejected").by).toBe("bulkhead");
    expect(lab.runtime.pending).toBe(0);
  });

  it("gives up at once when it is cancelled in a backoff: no timer, no token, no attempt left", () => {
    const budget = new RetryBudget({ burst: 1 });
    const { lab, stack } = made(3, {}, budget);
    const call = lab.start(stack, lab.throws(transient));
    lab.runtime.advance(40);
    expect(budget.reserved).toBe(1);
    call.process.cancel("enough");
    expect(only(call, "cancelled").reason).toBe("enough");
    expect([call.answeredAt, budget.reserved, budget.level, lab.runtime.pending]).toEqual([40, 0, 1, 0]);
    lab.runtime.advance(1000);
    expect(call.sent).toHaveLength(1);
  });

  it("stops at an empty budget, and says so", () => {
    const { lab, stack } = made(3, {}, new RetryBudget({ ratio: 0, burst: 1 }));
    const calls = [0, 1].map(() => lab.start(stack, lab.throws(transient)));
    lab.runtime.runToIdle();
    expect(calls.map((call) => call.sent.length)).toEqual([2, 1]);
    expect(calls.map((call) => only(call, "failed").stoppedBy)).toMatchObject([
      { by: "budget", reason: "empty" },
      { by: "budget", reason: "empty" },
    ]);
  });

  it("spends a token when a repeat is sent, and earns by first attempts only", () => {
    const budget = new RetryBudget({ ratio: 0.5, burst: 2 });
    const { lab, stack } = made(3, { backoff: immediately }, budget);
    lab.start(stack, lab.throws(transient));
    expect(budget).toMatchObject({ firsts: 1, repeats: 2, reserved: 0, level: 0 });
  });

  it("answers the call when a backoff of yours throws", () => {
    const broken = new Error("no such backoff");
    const { lab, stack } = made(3, {
      backoff: () => {
        throw broken;
      },
    });
    const call = lab.start(stack, lab.throws(transient));
    expect(only(call, "failed")).toMatchObject({ error: broken, class: "permanent" });
    expect(lab.runtime.pending).toBe(0);
  });

  it.each([0, 100])("sends nothing more when a backoff of %d ms cancels its own call", (delayMs) => {
    const budget = new RetryBudget();
    const calls: { cancel(reason: unknown): void }[] = [];
    const { lab, stack } = made(
      3,
      {
        backoff: () => {
          for (const call of calls) call.cancel("from the backoff");
          return delayMs;
        },
      },
      budget,
    );
    const call = lab.start(stack, lab.throws(transient, 10));
    calls.push(call.process);
    lab.runtime.advance(10);
    expect(only(call, "cancelled").reason).toBe("from the backoff");
    lab.runtime.runToIdle();
    expect([call.sent.length, budget.reserved, budget.level, lab.runtime.pending]).toEqual([1, 0, 10, 0]);
    expect(lab.log.at(-1)).toBe("call.answered");
  });

  it("makes 100 attempts without a wait, and 100 calls of them, on one stack frame", () => {
    const { lab, stack } = made(100, { backoff: immediately });
    for (let i = 0; i < 100; i++) expect(lab.start(stack, lab.throws(transient)).sent).toHaveLength(100);
  });
});

describe("retry within a retry", () => {
  it("pays for every repeat, the outer one's too", () => {
    const budget = new RetryBudget({ ratio: 0, burst: 100 });
    const lab = new Lab();
    const twice = { attempts: 2, backoff: immediately };
    const stack = lab.stack([retry(twice), retry(twice), timeout(50)], { budget });
    const call = lab.start(stack, lab.throws(transient));
    expect(call.sent).toHaveLength(4);
    expect(budget).toMatchObject({ firsts: 1, repeats: 3, reserved: 0, level: 97 });
  });
});

it("hands a token back that the layer within has not spent: a flight's attempts are its own", () => {
  const budget = new RetryBudget({ ratio: 0, burst: 2 });
  const lab = new Lab();
  const guards = [retry({ attempts: 3, backoff: constant(100) }), coalesce(), timeout(50)];
  const stack = lab.stack(guards, { budget, idempotent: true });
  const call = lab.start(stack, lab.hangs, { fields: { ...PLAIN_CALL, key: "k" } });
  lab.runtime.runToIdle();
  expect(only(call, "failed").ended).toBe("timeout");
  expect([call.sent.length, budget.reserved, budget.level]).toEqual([3, 0, 2]);
});
