import { describe, expect, it } from "vitest";
import { fault, Lab } from "../../../test/lib/lab.ts";
import { PLAIN_CALL } from "../call.ts";
import { breaker, KeyedBreakers } from "./guard.ts";
import { BreakerPolicy, fixed } from "./options.ts";

const options = { window: { calls: 2 }, openMs: 100, reopen: fixed(), probes: 1 };

describe("a breaker for each key", () => {
  const made = (more = {}) => {
    const lab = new Lab();
    const breakers = new KeyedBreakers(new BreakerPolicy(options), more, "breaker.perKey");
    const stack = lab.stack([breakers]);
    const call = (key: string, fails: boolean, fields = {}) =>
      lab.start(stack, fails ? lab.throws(fault("transient")) : lab.gives(1), {
        fields: { ...PLAIN_CALL, key, ...fields },
      }).answers[0]?.kind;
    return { lab, breakers, call };
  };

  it("opens for the key that fails, and for no other", () => {
    const { breakers, call, lab } = made();
    expect([call("a", true), call("a", true), call("a", true)]).toEqual(["failed", "failed", "rejected"]);
    expect([call("b", false), call("b", false)]).toEqual(["ok", "ok"]);
    expect([breakers.of("a")?.state.name, breakers.of("b")?.state.name, breakers.of("c")]).toEqual([
      "open",
      "closed",
      null,
    ]);
    lab.runtime.advance(100);
    expect([call("a", false), call("a", false)]).toEqual(["ok", "ok"]);
    expect(breakers.of("a")?.state.name).toBe("closed");
  });

  it("can go by tenant", () => {
    const { breakers, call } = made({ by: "tenant" });
    for (const key of ["x", "y", "z"]) call(key, true, { tenant: "loud" });
    expect(call("x", false, { tenant: "quiet" })).toBe("ok");
    expect([breakers.of("loud")?.state.name, breakers.size]).toEqual(["open", 2]);
  });

  it("arms no timer, and remembers no more keys than it may (case 082)", () => {
    const { breakers, call, lab } = made({ maxKeys: 100 });
    for (let i = 0; i < 1_000; i++) call(`host ${i}`, true);
    expect([breakers.size <= 100, lab.runtime.pending]).toEqual([true, 0]);
  });

  it("says in its events which operation it is of", () => {
    const { call, lab } = made();
    call("a", true);
    call("a", true);
    expect(lab.events.filter((event) => event.type === "breaker.changed")).toMatchObject([
      { dependency: "stock", operation: "view", from: "closed", to: "open" },
    ]);
  });
});

describe("a breaker that minds slow calls", () => {
  it("opens for calls that took too long, and not for those that were given up", () => {
    const lab = new Lab();
    const stack = lab.stack([breaker({ ...options, window: { calls: 4 }, slowCallMs: 50 })]);
    for (let i = 0; i < 4; i++) {
      const call = lab.start(stack, lab.hangs);
      lab.runtime.advance(60);
      call.process.cancel("gone");
    }
    for (let i = 0; i < 4; i++) lab.start(stack, lab.gives(1, 50));
    lab.runtime.advance(49);
    expect(lab.start(stack, lab.gives(1)).answers[0]?.kind).toBe("ok");
    lab.runtime.advance(1);
    expect(lab.start(stack, lab.gives(1)).answers[0]).toMatchObject({ kind: "rejected", reason: "open" });
  });

  it("takes a slow probe for a failed one", () => {
    const lab = new Lab();
    const stack = lab.stack([breaker({ ...options, slowCallMs: 50 })]);
    for (let i = 0; i < 2; i++) lab.start(stack, lab.throws(fault("transient")));
    lab.runtime.advance(100);
    lab.start(stack, lab.gives(1, 60));
    lab.runtime.advance(60);
    expect(lab.start(stack, lab.gives(1)).answers[0]).toMatchObject({ kind: "rejected", reason: "open" });
  });
});

describe("a breaker with a ramp", () => {
  it("lets a growing part of the calls through once it has closed", () => {
    const lab = new Lab();
    const stack = lab.stack([breaker({ ...options, rampMs: 1_000 })]);
    for (let i = 0; i < 2; i++) lab.start(stack, lab.throws(fault("transient")));
    lab.runtime.advance(100);
    expect(lab.start(stack, lab.gives(1)).answers[0]?.kind).toBe("ok");
    const passing = Array.from({ length: 10 }, () => {
      let passed = 0;
      for (let i = 0; i < 100; i++) {
        lab.runtime.advance(1);
        if (lab.start(stack, lab.gives(1)).answers[0]?.kind === "ok") passed++;
      }
      return passed;
    });
    expect(passing[0]).toBeLessThan(25);
    expect(passing[4]).toBeGreaterThan(25);
    expect(passing[4]).toBeLessThan(65);
    expect(passing[9]).toBeGreaterThan(80);
    expect(lab.start(stack, lab.gives(1)).answers[0]?.kind).toBe("ok");
  });
});
