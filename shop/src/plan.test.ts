// What the real shop changes of a setting, and that its file is checked whole before anything starts.
import { readOverrides } from "plimsoll/sim";
import { basketlySystem, parametersOf, scaled } from "plimsoll/system";
import { describe, expect, it } from "vitest";
import { checkPlan, overridesFor, type Plan, SHOP_SETTINGS, systemFor, timetable } from "./plan.ts";

const planOf = (setting: string, more: Partial<Plan> = {}): Plan => ({
  setting,
  scale: 0.25,
  seed: 1,
  timetable: timetable(20),
  ...more,
});

describe("a plan", () => {
  it.each(SHOP_SETTINGS)("of %s has a file whose names are all bound", (setting) => {
    expect(() => checkPlan(planOf(setting))).not.toThrow();
  });

  it.each(SHOP_SETTINGS)("of %s is simulated from the very file that the shop reads", (setting) => {
    const plan = planOf(setting);
    const named = parametersOf(setting);
    if (named === undefined) throw new Error(setting);
    const replayed = { ...named, ...readOverrides(overridesFor(plan) as Record<string, number>).changes };
    expect(basketlySystem(scaled(replayed, plan.scale))).toEqual(systemFor(plan));
  });

  it("of a setting that there is not is refused before anything starts", () => {
    expect(() => checkPlan(planOf("C99"))).toThrow("there is no setting C99");
  });

  it("has prices, and a margin wherever a deadline is sent", () => {
    const edges = (setting: string) => systemFor(planOf(setting)).edges;
    expect(Object.keys(edges("C0"))).toContain("shop-api -> prices");
    for (const { wire } of Object.values(edges("C0")))
      expect(wire).toMatchObject({ deadline: "none", marginMs: 0 });
    for (const { wire } of Object.values(edges("C1"))) {
      expect(wire.deadline).not.toBe("none");
      expect(wire.marginMs).toBeGreaterThan(0);
    }
  });

  it("in which something is killed has no slow storage", () => {
    expect(overridesFor(planOf("C1", { kill: "stock" }))["hiccup.factor"]).toBe(1);
    expect(overridesFor(planOf("C1"))["hiccup.factor"]).toBeUndefined();
  });

  it("lasts 20 s longer than its trouble at least", () => {
    expect(timetable(20)).toEqual({ fromS: -5, hiccupS: 20, untilS: 41 });
  });
});
