import { describe, expect, it } from "vitest";
import { Lab, only } from "../../../test/lib/lab.ts";
import { failed } from "../call.ts";
import { OptionError } from "../errors.ts";
import { hedge } from "./guard.ts";
import { type HedgeOptions, HedgePolicy } from "./machine.ts";

describe("a live delay", () => {
  const live = (more = {}) => new HedgePolicy({ delayMs: { percentile: 0.95, minSamples: 20, ...more } });

  it("does not hedge before it has seen enough, and then follows its percentile", () => {
    const policy = live();
    for (let i = 1; i <= 19; i++) policy.took(i, 0);
    expect(policy.delayMs(0)).toBe(Infinity);
    policy.took(20, 0);
    expect(policy.delayMs(0)).toBeGreaterThan(17.5);
    expect(policy.delayMs(0)).toBeLessThan(20.5);
  });

  it("forgets what is older than its window", () => {
    const policy = live({ windowMs: 1_000 });
    for (let i = 0; i < 50; i++) policy.took(10, 0);
    for (let i = 0; i < 50; i++) policy.took(100, 5_000);
    expect(policy.delayMs(5_000)).toBeGreaterThan(90);
    expect(policy.delayMs(50_000)).toBe(Infinity);
  });

  it("is never below its least", () => {
    const policy = live({ minMs: 5 });
    for (let i = 0; i < 50; i++) policy.took(0.1, 0);
    expect(policy.delayMs(0)).toBe(5);
  });

  it("hedges about one call in 20 of a dependency that is not slow at all", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: { minSamples: 100 } })]);
    const random = lab.runtime.random.fork("latencies");
    const calls = Array.from({ length: 3_000 }, () => {
      const call = lab.start(stack, [
        lab.gives(1, 5 + 15 * random.next()),
        lab.gives(2, 5 + 15 * random.next()),
      ]);
      lab.runtime.runToIdle();
      return call;
    });
    const hedged = calls.slice(500).filter((call) => call.sent.length > 1).length / 2_500;
    expect(hedged).toBeGreaterThan(0.02);
    expect(hedged).toBeLessThan(0.1);
  });
});

describe("a dependency that asks for less", () => {
  it("is sent no second copies for a while, or as long as it says", () => {
    const policy = new HedgePolicy({ delayMs: 50, quietMs: 200 });
    policy.overloaded(failed("busy", "throttling"), 1_000);
    expect([policy.delayMs(1_199), policy.delayMs(1_200)]).toEqual([Infinity, 50]);
    policy.overloaded(failed("busy", "throttling", { pushback: 5_000 }), 2_000);
    expect([policy.isQuiet(6_999), policy.isQuiet(7_000)]).toEqual([true, false]);
  });

  it("ends hedging also for the calls that are under way, which go on", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 50 })], {
      judge: (result) =>
        "error" in result ? failed(result.error, "throttling", { pushback: 300 }) : undefined,
    });
    const slow = lab.start(stack, lab.gives("first", 400));
    lab.start(stack, lab.throws(new Error("slow down"), 10));
    lab.runtime.runToIdle();
    expect([only(slow, "ok").value, slow.sent.length]).toEqual(["first", 1]);
    expect(lab.events.some((event) => event.type === "hedge.stopped" && event.by === "hedge")).toBe(true);
  });
});

describe("more than one hedge", () => {
  it("sends one after each delay, takes the first answer, and gives all others up", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 50, attempts: 4 })]);
    const call = lab.start(stack, [lab.hangs, lab.hangs, lab.gives("third", 30)]);
    lab.runtime.advance(100);
    expect(call.sent.length).toBe(3);
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.answeredAt, call.sent.length]).toEqual(["third", 130, 3]);
    expect(stack.leaf.abandoned).toBe(2);
  });

  it("sends no more once one has failed, and waits for those that run", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 50, attempts: 4 })]);
    const call = lab.start(stack, [lab.gives("first", 300), lab.throws(new Error("no"), 10)]);
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.sent.length]).toEqual(["first", 2]);
  });
});

it("refuses wrong options by name", () => {
  const wrong: [unknown, string][] = [
    [{}, "hedge.delayMs"],
    [{ delayMs: "50" }, "hedge.delayMs"],
    [{ delayMs: null }, "hedge.delayMs"],
    [{ delayMs: -1 }, "hedge.delayMs"],
    [{ delayMs: 5, onFailure: "go on" }, "hedge.onFailure"],
    [{ delayMs: { percentile: 1 } }, "hedge.delayMs.percentile"],
    [{ delayMs: { windowMs: 1 } }, "hedge.delayMs.windowMs"],
    [{ delayMs: { rank: 1 } }, "hedge.delayMs.rank"],
    [{ delayMs: 5, attempts: 1 }, "hedge.attempts"],
    [{ delayMs: 5, quietMs: Number.NaN }, "hedge.quietMs"],
  ];
  for (const [options, field] of wrong) {
    expect(() => new HedgePolicy(options as HedgeOptions), field).toThrow(OptionError);
    expect(() => new HedgePolicy(options as HedgeOptions), field).toThrow(field);
  }
});
