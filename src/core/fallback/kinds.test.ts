import { describe, expect, it } from "vitest";
import { callOf, fault, Lab, only } from "../../../test/lib/lab.ts";
import { dependency } from "../../facade/dependency.ts";
import { VirtualRuntime } from "../../testing/index.ts";
import type { Attempt } from "../attempt.ts";
import { degraded, PLAIN_CALL, rejected } from "../call.ts";
import { OptionError } from "../errors.ts";
import { fallback } from "./guard.ts";
import { defaultValue, type FallbackOption, fallbackSettings, stale } from "./options.ts";

/** The work of these stacks gives what a fallback's function returns. */
const performing = (lab: Lab, option: FallbackOption, generators: boolean) =>
  lab.stack([fallback(option)], {
    generators,
    perform: (attempt, work) => {
      const given = (work as (attempt: unknown) => unknown)(attempt);
      if (given !== undefined || attempt.kind === "fallback") attempt.succeed(given);
    },
  });

describe.each([false, true])("a fallback of a kind (generators: %s)", (generators) => {
  const bad = (lab: Lab) => lab.throws(fault("transient"));

  it("answers with the last good answer while it is young enough", () => {
    const lab = new Lab();
    const stack = performing(lab, stale({ maxAgeMs: 1_000 }), generators);
    expect(only(lab.start(stack, bad(lab)), "failed").class).toBe("transient");
    lab.start(stack, lab.gives("first"));
    lab.start(stack, lab.gives("second"));
    lab.runtime.advance(1_000);
    expect(only(lab.start(stack, bad(lab)), "ok")).toMatchObject({
      value: "second",
      degradedBy: { kind: "failed", class: "transient" },
    });
    lab.runtime.advance(1);
    expect(only(lab.start(stack, bad(lab)), "failed").class).toBe("transient");
  });

  it("keeps no answer that was less than whole itself", () => {
    const lab = new Lab();
    const stack = lab.stack([fallback(stale({ maxAgeMs: 1_000 }))], {
      generators,
      judge: (result) => ("value" in result ? degraded(result.value) : undefined),
    });
    expect(only(lab.start(stack, lab.gives("half")), "ok").degradedBy).toBe("callee");
    expect(only(lab.start(stack, bad(lab)), "failed").class).toBe("transient");
  });

  it("exercises only where there is something to answer with", () => {
    const lab = new Lab();
    const stack = lab.stack([fallback(stale({ maxAgeMs: 1_000, exercise: 1 }))], {
      generators,
      judge: (result) => ("value" in result ? degraded(result.value) : undefined),
    });
    expect(only(lab.start(stack, lab.gives("half")), "ok")).toMatchObject({
      value: "half",
      degradedBy: "callee",
    });
  });

  it("never answers with what belongs to another tenant or another key", () => {
    const lab = new Lab();
    const stack = performing(lab, stale({ maxAgeMs: 1_000 }), generators);
    const call = (tenant: string, key: string, good: boolean) =>
      lab.start(stack, good ? lab.gives(`${tenant}/${key}`) : bad(lab), {
        fields: { ...PLAIN_CALL, tenant, key },
      });
    call("a", "bc", true);
    expect(call("ab", "c", false).answers[0]?.kind).toBe("failed");
    expect(call("", "abc", false).answers[0]?.kind).toBe("failed");
    expect(call("1:a", "bc", false).answers[0]?.kind).toBe("failed");
    expect(only(call("a", "bc", false), "ok").value).toBe("a/bc");
  });

  it("keeps whole answers only, and as many as it may", () => {
    const lab = new Lab();
    const stack = performing(lab, stale({ maxAgeMs: 1_000, maxKeys: 10 }), generators);
    const call = (key: number, good: boolean) =>
      lab.start(stack, good ? lab.gives(key) : bad(lab), { fields: { ...PLAIN_CALL, key: `${key}` } })
        .answers[0]?.kind;
    for (let key = 0; key < 100; key++) call(key, true);
    const known = Array.from({ length: 100 }, (_, key) => call(key, false)).filter(
      (kind) => kind === "ok",
    ).length;
    expect(known).toBeGreaterThan(0);
    expect(known).toBeLessThanOrEqual(10);
  });

  it("answers with a fixed value, null and undefined included", () => {
    for (const value of ["no stars", null, undefined]) {
      const lab = new Lab();
      const stack = performing(lab, defaultValue(value), generators);
      expect(only(lab.start(stack, bad(lab)), "ok")).toMatchObject({ value, degradedBy: { kind: "failed" } });
    }
  });

  it("is tried on purpose at its rate, and marked as such", () => {
    const lab = new Lab();
    const stack = performing(lab, defaultValue("substitute", { exercise: 0.1 }), generators);
    const exits = Array.from({ length: 2_000 }, () => only(lab.start(stack, lab.gives("real")), "ok"));
    const tried = exits.filter((exit) => exit.degradedBy !== undefined);
    expect(tried.length).toBeGreaterThan(140);
    expect(tried.length).toBeLessThan(260);
    expect(
      lab.events.filter((event) => event.type === "fallback.used" && event.because === "exercised"),
    ).toHaveLength(tried.length);
    expect(tried[0]).toMatchObject({ value: "substitute" });
    expect(tried[0]?.degradedBy).toEqual({ kind: "rejected", by: "fallback", reason: "exercised" });
  });

  it("leaves the good answer standing when it fails on purpose", () => {
    const lab = new Lab();
    const option = {
      run: () => {
        throw new Error("broken substitute");
      },
      exercise: 1,
    };
    const stack = performing(lab, option, generators);
    expect(only(lab.start(stack, lab.gives("real")), "ok")).toMatchObject({
      value: "real",
      degradedBy: undefined,
    });
    expect(lab.events).toContainEqual(
      expect.objectContaining({ type: "attempt.answered", kind: "fallback", ending: "transient" }),
    );
  });
});

it("gives one log by both paths", () => {
  const log = (generators: boolean): string => {
    const lab = new Lab(9);
    const stack = performing(lab, stale({ maxAgeMs: 50, exercise: 0.3 }), generators);
    for (let i = 0; i < 200; i++) {
      lab.start(stack, i % 3 === 0 ? lab.throws(fault("transient"), 5) : lab.gives(i, 5));
      lab.runtime.advance(7);
    }
    return JSON.stringify(lab.events);
  };
  expect(log(true)).toBe(log(false));
});

it("refuses wrong options by name", () => {
  const stock = dependency({ name: "stock" }, new VirtualRuntime());
  const wrong: [unknown, string][] = [
    [{ kind: "cached" }, "stock.view.fallback.kind"],
    [{ kind: "stale" }, "stock.view.fallback.maxAgeMs"],
    [stale({ maxAgeMs: 0 }), "stock.view.fallback.maxAgeMs"],
    [stale({ maxAgeMs: 10, maxKeys: 1 }), "stock.view.fallback.maxKeys"],
    [{ kind: "stale", maxAgeMs: 1, value: 3 }, "stock.view.fallback.value"],
    [{ kind: "default" }, "stock.view.fallback.value"],
    [defaultValue(1, { exercise: 1.5 }), "stock.view.fallback.exercise"],
  ];
  for (const [fallback, field] of wrong) {
    expect(() => stock.operation("view", { fallback } as never), field).toThrow(OptionError);
    expect(() => stock.operation("view", { fallback } as never), field).toThrow(field);
  }
});

it("is not for an operation whose answer decides on authorization or integrity", () => {
  const users = dependency({ name: "users" }, new VirtualRuntime());
  for (const decides of ["authorization", "integrity"] as const) {
    expect(() => users.operation("may", { decides, fallback: () => true })).toThrow("users.may.fallback");
    expect(() => users.operation("may", { decides, retry: {} })).not.toThrow();
  }
  expect(() => users.operation("may", { decides: "price" as never })).toThrow("users.may.decides");
});

it("answers with what was young enough when it was decided on, however long that takes", () => {
  const { kept, run } = fallbackSettings(stale({ maxAgeMs: 10 }), "fallback");
  const call = callOf();
  kept?.keep(call, "kept", 0);
  expect(kept?.of(call, 10)).not.toBeNull();
  const runtime = new VirtualRuntime({ startAtMs: 11 });
  expect(run(rejected("breaker", "open"), { call, runtime } as unknown as Attempt)).toBe("kept");
});
