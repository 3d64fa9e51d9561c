import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failed, ok } from "../call.ts";
import { Token } from "./budget.ts";
import { RetryBudget } from "./machine.ts";

const token = (budget: RetryBudget): Token => {
  const reserved = budget.reserve("retry", 0, null);
  if (reserved.kind === "rejected") throw new Error("the budget is empty");
  return reserved;
};

const drain = (budget: RetryBudget): void => {
  for (
    let reserved = budget.reserve("retry", 0, null);
    reserved.kind === "token";
    reserved = budget.reserve("retry", 0, null)
  )
    reserved.sent();
};

describe("RetryBudget", () => {
  it("has the defaults of its sources", () => {
    const { ratio, burst, level } = new RetryBudget();
    expect({ ratio, burst, level }).toEqual({ ratio: 0.1, burst: 10, level: 10 });
  });

  it("makes exactly one token of ten deposits of a tenth", () => {
    const budget = new RetryBudget({ ratio: 0.1, burst: 5 });
    drain(budget);
    for (let i = 0; i < 9; i++) budget.firstSent(0);
    expect(budget.reserve("retry", 0, null).kind).toBe("rejected");
    budget.firstSent(0);
    expect(budget.level).toBe(1);
    expect(budget.reserve("retry", 0, null).kind).toBe("token");
    expect(budget.level).toBe(0);
  });

  it("counts what is reserved, so that waiting repeats are charged", () => {
    const budget = new RetryBudget({ burst: 2 });
    const [first] = [token(budget), token(budget)];
    expect(budget).toMatchObject({ reserved: 2, repeats: 0, level: 0 });
    expect(budget.reserve("hedge", 0, null)).toMatchObject({
      kind: "rejected",
      by: "budget",
      reason: "empty",
    });
    first?.cancel();
    expect(budget).toMatchObject({ reserved: 1, level: 1 });
  });

  it("ends a token once", () => {
    const budget = new RetryBudget({ burst: 2 });
    const spent = token(budget);
    spent.sent();
    spent.sent();
    spent.cancel();
    const returned = token(budget);
    returned.cancel();
    returned.cancel();
    returned.sent();
    expect(budget).toMatchObject({ reserved: 0, repeats: 1, level: 1 });
  });

  it("gives the token of a repeat back that turns out never to have left", () => {
    const budget = new RetryBudget({ burst: 2 });
    const unsent = failed("refused connection", "transient", { effect: "none", ended: "unsent" });
    const [left, stayed] = [token(budget), token(budget)];
    for (const repeat of [left, stayed]) repeat.sent();
    budget.settled(unsent, stayed);
    budget.settled(failed("reset", "transient"), left);
    budget.settled(ok(1), left);
    budget.settled(unsent, null);
    expect(budget).toMatchObject({ repeats: 1, reserved: 0, level: 1 });
  });

  it("measures the ratio it sees", () => {
    const budget = new RetryBudget();
    expect(budget.measuredRatio).toBe(0);
    for (let i = 0; i < 20; i++) budget.firstSent(0);
    token(budget).sent();
    expect(budget.measuredRatio).toBe(0.05);
  });

  it("refuses everything with nothing in it", () => {
    const budget = new RetryBudget({ ratio: 0, burst: 0 });
    budget.firstSent(0);
    expect(budget.reserve("retry", 0, null).kind).toBe("rejected");
  });

  it("keeps its books balanced, whatever happens (property)", () => {
    const step = fc.constantFrom("first", "reserve", "sent", "cancel");
    const options = fc.record({
      ratio: fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000),
      burst: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(options, fc.array(fc.tuple(step, fc.nat()), { maxLength: 300 }), (option, steps) => {
        const budget = new RetryBudget(option);
        const open: Token[] = [];
        let [firsts, spent] = [0, 0];
        for (const [what, which] of steps) {
          const at = open.length > 0 ? which % open.length : -1;
          if (what === "first") {
            budget.firstSent(0);
            firsts++;
          } else if (what === "reserve") {
            const canPay = budget.level >= 1;
            const reserved = budget.reserve("retry", 0, null);
            expect(reserved.kind === "token").toBe(canPay);
            if (reserved instanceof Token) open.push(reserved);
          } else if (at >= 0) {
            const [ended] = open.splice(at, 1);
            if (what === "sent") spent++;
            ended?.[what]();
          }
          expect(budget).toMatchObject({ firsts, repeats: spent, reserved: open.length });
          expect(budget.level).toBeGreaterThanOrEqual(0);
          expect(budget.level).toBeLessThanOrEqual(option.burst);
          const earned = Math.round(option.burst * 1000 + firsts * option.ratio * 1000);
          expect((spent + open.length) * 1000 + Math.round(budget.level * 1000)).toBeLessThanOrEqual(earned);
        }
      }),
    );
  });
});
