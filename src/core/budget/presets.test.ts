import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Exit, failed, ok } from "../call.ts";
import { OptionError } from "../errors.ts";
import type { Budget } from "./budget.ts";
import { Token } from "./budget.ts";
import {
  awsQuota,
  type BudgetSpec,
  budgetOf,
  concurrencyShare,
  grpcThrottle,
  windowShare,
} from "./presets.ts";

const transient = failed("reset", "transient");
const throttled = failed("slow down", "throttling");
const timedOut = failed("late", "transient", { ended: "timeout" });
const wrong = failed("no such item", "permanent");

const reserve = (budget: Budget, because: Exit = transient, now = 0): Token | null => {
  const token = budget.reserve("retry", now, because.kind === "failed" ? because : null);
  return token.kind === "token" ? token : null;
};

/** Sends repeats after `because`, all of which fail, until the budget refuses; says how many it was. */
const drained = (budget: Budget, because: Exit): number => {
  for (let count = 0; ; count++) {
    const token = reserve(budget, because);
    if (token === null) return count;
    token.sent(0);
    budget.settled(because, token);
  }
};

describe("the AWS SDKs' quota", () => {
  it("allows 35 transient retries from a full one, or 100 after throttling (2.1, measured on @smithy/core)", () => {
    const budget = budgetOf(awsQuota());
    expect(drained(budget, transient)).toBe(35);
    expect(budget.level).toBe(10);
    expect(drained(budgetOf(awsQuota()), throttled)).toBe(100);
    expect(drained(budgetOf(awsQuota()), timedOut)).toBe(35);
  });

  it("charged 5, and 10 for a timeout, before", () => {
    expect(drained(budgetOf(awsQuota({ version: "legacy" })), transient)).toBe(100);
    expect(drained(budgetOf(awsQuota({ version: "legacy" })), timedOut)).toBe(50);
  });

  it("gives the last retry's cost back at a success, one token for a first try, and nothing for a failed call", () => {
    const budget = budgetOf(awsQuota());
    const levels: number[] = [];
    let last: Token | null = null;
    for (let attempt = 2; attempt <= 4; attempt++) {
      last = reserve(budget) as Token;
      last.sent(0);
      levels.push(budget.level);
    }
    expect(levels).toEqual([486, 472, 458]);
    budget.settled(ok(1), last);
    expect(budget.level).toBe(472);
    budget.settled(ok(1), null);
    expect(budget.level).toBe(473);
    for (let i = 0; i < 100; i++) budget.settled(ok(1), null);
    expect(budget.level).toBe(500);
  });
});

describe("gRPC's retry throttle (A6)", () => {
  it("stops repeats at half of its tokens, exclusive, and never charges them", () => {
    const budget = budgetOf(grpcThrottle({ maxTokens: 10, tokenRatio: 0.1 }));
    for (let i = 0; i < 4; i++) budget.settled(transient, null);
    expect(budget.level).toBe(6);
    expect(reserve(budget)).not.toBeNull();
    budget.settled(transient, null);
    expect(budget.level).toBe(5);
    expect(reserve(budget)).toBeNull();
    budget.settled(ok(1), null);
    expect(budget.level).toBe(5.1);
    expect(reserve(budget)).not.toBeNull();
  });

  it("counts a refusal to be asked again, whatever its status, and ignores other final answers", () => {
    const budget = budgetOf(grpcThrottle({ maxTokens: 4, tokenRatio: 1 }));
    budget.settled(wrong, null);
    expect(budget.level).toBe(4);
    budget.settled(failed("no", "permanent", { pushback: "never" }), null);
    expect(budget.level).toBe(3);
    for (let i = 0; i < 9; i++) budget.settled(throttled, null);
    expect(budget.level).toBe(0);
  });

  it("ignores decimals after the third", () => {
    const budget = budgetOf(grpcThrottle({ maxTokens: 10, tokenRatio: 0.0019 }));
    budget.settled(transient, null);
    budget.settled(ok(1), null);
    expect(budget.level).toBe(9.001);
  });
});

describe("Envoy's share of what is in flight", () => {
  it("counts repeats that wait for their backoff (case 035)", () => {
    const budget = budgetOf(concurrencyShare({ share: 0.2, min: 3 }));
    for (let i = 0; i < 100; i++) budget.firstSent(0);
    let waiting = 0;
    for (let i = 0; i < 100; i++) {
      budget.settled(transient, null);
      if (reserve(budget) !== null) waiting++;
    }
    expect(waiting).toBeGreaterThanOrEqual(3);
    expect(waiting).toBeLessThanOrEqual(20);
  });

  it("always allows its least", () => {
    const budget = budgetOf(concurrencyShare());
    expect([reserve(budget), reserve(budget), reserve(budget)]).not.toContain(null);
    expect(reserve(budget)).toBeNull();
  });

  it("frees a share when a repeat is answered or given up", () => {
    const budget = budgetOf(concurrencyShare({ min: 1 }));
    const sent = reserve(budget) as Token;
    sent.sent(0);
    expect(reserve(budget)).toBeNull();
    budget.settled(transient, sent);
    const waiting = reserve(budget) as Token;
    expect(reserve(budget)).toBeNull();
    waiting.cancel();
    expect(reserve(budget)).not.toBeNull();
  });
});

describe("Finagle's share of a window", () => {
  it("allows a fifth of the last first attempts, and ten a second beside", () => {
    const budget = budgetOf(windowShare({ perSecond: 1, windowMs: 10_000 }));
    for (let i = 0; i < 100; i++) budget.firstSent(i * 50);
    expect(drained(budget, transient)).toBe(20 + 10);
  });

  it("forgets both after the window", () => {
    const budget = budgetOf(windowShare({ ratio: 0.5, perSecond: 0, windowMs: 1_000 }));
    for (let i = 0; i < 10; i++) budget.firstSent(0);
    expect(drained(budget, transient)).toBe(5);
    expect(reserve(budget, transient, 500)).toBeNull();
    for (let i = 0; i < 10; i++) budget.firstSent(5_000);
    expect(reserve(budget, transient, 5_000)).not.toBeNull();
  });
});

describe("every budget", () => {
  const specs: [string, BudgetSpec, number][] = [
    ["ratio", { ratio: 0.2, burst: 7 }, 7],
    ["aws", awsQuota(), 100],
    ["grpc", grpcThrottle({ maxTokens: 10, tokenRatio: 0.5 }), Infinity],
    ["concurrencyShare", concurrencyShare(), 3],
    ["windowShare", windowShare({ perSecond: 1 }), 10],
  ];

  it.each(specs)("of kind %s keeps its books, whatever happens (property)", (_name, spec, burst) => {
    const ends = fc.constantFrom<Exit>(ok(1), transient, throttled, wrong, timedOut);
    const step = fc.tuple(
      fc.constantFrom("first", "reserve", "sent", "cancel", "settle"),
      ends,
      fc.nat(),
      fc.nat(20),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const budget = budgetOf(spec);
        const open: Token[] = [];
        const flying: (Token | null)[] = [];
        let [now, firsts, spent] = [0, 0, 0];
        for (const [what, exit, which, gap] of steps) {
          now += gap;
          if (what === "first") {
            budget.firstSent(now);
            flying.push(null);
            firsts++;
          } else if (what === "reserve") {
            const token = reserve(budget, exit, now);
            if (token instanceof Token) open.push(token);
          } else if (what === "settle" && flying.length > 0) {
            budget.settled(exit, flying.splice(which % flying.length, 1)[0] as Token | null);
          } else if (what !== "settle" && open.length > 0) {
            const token = open.splice(which % open.length, 1)[0] as Token;
            if (what === "sent") {
              token.sent(now);
              flying.push(token);
              spent++;
            } else token.cancel();
          }
          expect(budget).toMatchObject({ firsts, repeats: spent, reserved: open.length });
          expect(budget.level).not.toBeNaN();
        }
        if (spec !== specs[1]?.[1]) expect(spent + open.length).toBeLessThanOrEqual(burst + firsts);
      }),
    );
  });

  it("refuses wrong options by name", () => {
    const no: [BudgetSpec, string][] = [
      [{ kind: "ratio" } as never, "budget.kind"],
      [{ kind: "aws", ratio: 1 } as never, "budget.ratio"],
      [awsQuota({ version: "3" as never }), "budget.version"],
      [grpcThrottle({ maxTokens: 0, tokenRatio: 1 }), "budget.maxTokens"],
      [grpcThrottle({ maxTokens: 1_001, tokenRatio: 1 }), "budget.maxTokens"],
      [grpcThrottle({ maxTokens: 10, tokenRatio: 0 }), "budget.tokenRatio"],
      [concurrencyShare({ share: 1.1 }), "budget.share"],
      [windowShare({ windowMs: Number.NaN }), "budget.windowMs"],
    ];
    for (const [spec, field] of no) {
      expect(() => budgetOf(spec), field).toThrow(OptionError);
      expect(() => budgetOf(spec), field).toThrow(field);
    }
  });
});
