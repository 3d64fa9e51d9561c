import { describe, expect, it } from "vitest";
import { Lab, only } from "../../../test/lib/lab.ts";
import { Bulkhead, bulkhead } from "../bulkhead/guard.ts";
import { PLAIN_CALL } from "../call.ts";
import { KeyedRateLimits, RateLimit, rateLimit } from "./guard.ts";

describe("the rate limit", () => {
  it("refuses who comes too soon, and says when they would not", () => {
    const lab = new Lab();
    const stack = lab.stack([rateLimit({ limit: 2, windowMs: 1_000 })]);
    const calls = [1, 2, 3].map(() => lab.start(stack, lab.gives(1)));
    expect(calls.map((call) => call.answers[0]?.kind)).toEqual(["ok", "ok", "rejected"]);
    expect(only(calls[2] as never, "rejected")).toMatchObject({
      by: "rateLimit",
      reason: "spent",
      retryAfterMs: 500,
    });
    lab.runtime.advance(500);
    expect(only(lab.start(stack, lab.gives(1)), "ok").value).toBe(1);
  });

  it("charges what a call costs, by its own word", () => {
    const lab = new Lab();
    const stack = lab.stack([rateLimit({ limit: 100, cost: (call) => call.bytes })]);
    const send = (bytes: number) =>
      lab.start(stack, lab.gives(1), { fields: { ...PLAIN_CALL, bytes } }).answers[0];
    expect([send(60)?.kind, send(60)?.kind, send(40)?.kind]).toEqual(["ok", "rejected", "ok"]);
    expect(send(101)).toMatchObject({ kind: "rejected", reason: "costs more than the burst" });
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no cost");
      },
      "no cost",
    ],
    ["gives nonsense", () => Number.NaN, "what rateLimit.cost() returned"],
  ])("fails a call whose cost function %s, sends nothing, and goes on", (_what, cost, message) => {
    const lab = new Lab();
    let broken = true;
    const stack = lab.stack([rateLimit({ limit: 10, cost: () => (broken ? cost() : 1) })]);
    const call = lab.start(stack, lab.gives(1));
    expect(only(call, "failed")).toMatchObject({ class: "permanent", effect: "none" });
    expect(String(only(call, "failed").error)).toContain(message);
    expect(call.sent).toEqual([]);
    broken = false;
    expect(only(lab.start(stack, lab.gives(2)), "ok").value).toBe(2);
  });

  it("asks for the cost once a try: a function that throws the second time fails one call, and breaks no guard", () => {
    const lab = new Lab();
    let asked = 0;
    const cost = (): number => {
      if (++asked % 2 === 0) throw new Error("not again");
      return 1;
    };
    const cap = new Bulkhead({ limit: 1 }, lab.runtime);
    const stack = lab.stack([rateLimit({ limit: 10, cost }), bulkhead(cap)]);
    const kinds = [1, 2, 3].map(() => lab.start(stack, lab.gives(1)).answers[0]?.kind);
    expect([kinds, asked, cap.gate.held]).toEqual([["ok", "failed", "ok"], 3, 0]);
  });

  it("is shared by the operations that are given the same one", () => {
    const lab = new Lab();
    const shared = new RateLimit({ limit: 1 });
    const stacks = [lab.stack([rateLimit(shared)]), lab.stack([rateLimit(shared)])];
    expect(stacks.map((stack) => lab.start(stack, lab.gives(1)).answers[0]?.kind)).toEqual([
      "ok",
      "rejected",
    ]);
  });

  it("costs a call nothing that a guard behind it refuses", () => {
    const lab = new Lab();
    const shared = new RateLimit({ limit: 10 });
    const full = lab.stack([rateLimit(shared), rateLimit({ limit: 1 })]);
    for (let i = 0; i < 5; i++) lab.start(full, lab.gives(1));
    expect(shared.bucket.level(0)).toBe(9);
  });
});

describe("a quota for each key", () => {
  it("is spent by its own key alone", () => {
    const lab = new Lab();
    const quotas = new KeyedRateLimits({ limit: 1, windowMs: 1_000 }, { by: "tenant" }, "rateLimit");
    const stack = lab.stack([{ name: "rateLimit", bind: () => quotas }]);
    const call = (tenant: string) =>
      lab.start(stack, lab.gives(1), { fields: { ...PLAIN_CALL, tenant } }).answers[0]?.kind;
    expect([call("a"), call("a"), call("b")]).toEqual(["ok", "rejected", "ok"]);
    lab.runtime.advance(1_000);
    expect([call("a"), quotas.size, quotas.of("b")?.bucket.level(1_000)]).toEqual(["ok", 2, 1]);
    expect(() => new KeyedRateLimits({ limit: 0 }, {}, "rateLimit")).toThrow("rateLimit.limit");
  });
});
