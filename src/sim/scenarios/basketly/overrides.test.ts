import { describe, expect, it } from "vitest";
import { readOverrides } from "./overrides.ts";
import { replayBasketly } from "./replay.ts";

describe("overrides", () => {
  it("are read from text, and sorted by time", () => {
    const { values, changes, steps } = readOverrides({
      "load.cart": "600",
      "bulkhead.limit": 40,
      brownout: "true",
      "deadline.send": "request",
      "at.120.shed": "0.5",
      "at.10.flush": "true",
      "at.10.app.attempts": "1",
    });
    expect(values).toMatchObject({ "load.cart": 600, "at.120.shed": 0.5, "at.10.flush": true });
    expect(changes).toEqual({
      "load.cart": 600,
      "bulkhead.limit": 40,
      brownout: true,
      "deadline.send": "request",
    });
    expect(steps).toEqual([
      { atS: 10, changes: { "app.attempts": 1 }, flush: true, shed: undefined },
      { atS: 120, changes: {}, flush: false, shed: 0.5 },
    ]);
  });

  it("of a guard switch it on", () => {
    expect(readOverrides({ "budget.ratio": 0.2 }).changes).toEqual({ budget: true, "budget.ratio": 0.2 });
    expect(readOverrides({ "at.5.breaker.openMs": 9 }).steps[0]?.changes).toMatchObject({ breaker: true });
    expect(readOverrides({ budget: false, "budget.ratio": 0.2 }).changes).toMatchObject({ budget: false });
  });

  it.each([
    ["nope", "1", /^nope: "1" is not allowed; allowed: one of the keys load\.product, /],
    ["at.3.nope", "1", /^at\.3\.nope: "1" is not allowed; allowed: one of the keys /],
    ["load.cart", "many", /^load\.cart: "many" is not allowed; allowed: a number from 0 to 100000$/],
    ["load.cart", "", /a number from/],
    ["load.cart", Number.NaN, /^load\.cart: NaN is not allowed/],
    ["load.cart", Number.POSITIVE_INFINITY, /^load\.cart: Infinity is not allowed/],
    ["load.cart", -1, /^load\.cart: -1 is not allowed/],
    ["app.attempts", 1.5, /a whole number from 1 to 100$/],
    ["brownout", "yes", /^brownout: "yes" is not allowed; allowed: true or false$/],
    ["deadline.send", "never", /allowed: none or attempt or request$/],
    ["at.-16.flush", true, /^at\.-16\.flush: "-16" is not allowed; allowed: a number from -15 to 86400$/],
    ["at.1.flush", "maybe", /^at\.1\.flush: "maybe" is not allowed; allowed: true or false$/],
    ["at.1.shed", 2, /^at\.1\.shed: 2 is not allowed; allowed: a number from 0 to 1$/],
  ])("%s = %s is refused by name", (key, value, message) => {
    expect(() => readOverrides({ [key]: value })).toThrow(message);
  });
});

describe("a replay", () => {
  it.each([
    [{ setting: "C9" }, /^setting: "C9" is not allowed; allowed: C0, C1, /],
    [{ setting: "C0", seed: -1 }, /^seed: -1 is not allowed; allowed: a whole number from 0 to 4294967295$/],
    [{ setting: "C0", untilS: 0 }, /^untilS: 0 /],
    [{ setting: "C0", scale: 0 }, /^scale: 0 /],
  ])("%j is refused before it starts", (options, message) => {
    expect(() => replayBasketly(options)).toThrow(message);
  });

  it("at a quarter of the size answers a quarter of the load", () => {
    const { replay } = replayBasketly({ setting: "healthy", scale: 0.25, untilS: 10 });
    expect(replay.hiccup.offered).toBeGreaterThan(480);
    expect(replay.hiccup.offered).toBeLessThan(550);
    expect(replay.recoveredAtS).toBe(0);
  });

  it("changes what it is told to, when it is told to", () => {
    const { seconds } = replayBasketly({
      setting: "healthy",
      untilS: 6,
      overrides: { "at.2.load.factor": 0.5, "at.4.shed": 1 },
    }).replay;
    const at = (second: number) => seconds.find((one) => one.at === second);
    expect(at(1)?.offered).toBeGreaterThan(1_800);
    expect(at(3)?.offered).toBeLessThan(1_200);
    expect(at(5)?.goodput).toBe(0);
    expect(at(5)?.failed).toBe(at(5)?.offered);
  });
});
