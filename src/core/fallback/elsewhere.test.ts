// A write and another provider: what certainly did not run may be sent there, and nothing else.
import { describe, expect, it } from "vitest";
import { fault, Lab, only } from "../../../test/lib/lab.ts";
import { immediately } from "../backoff/machine.ts";
import { bulkhead } from "../bulkhead/guard.ts";
import { type Failed, failed, ok, PLAIN_CALL, rejected } from "../call.ts";
import { hedge } from "../hedge/guard.ts";
import { retry } from "../retry/guard.ts";
import { timeout } from "../timeout/guard.ts";
import { fallback } from "./guard.ts";
import { elsewhere, notExecuted } from "./options.ts";

const KEYED = { ...PLAIN_CALL, idempotencyKey: "order-7" };
const unsent = fault("transient", { effect: "none", ended: "unsent" });
const turnedAway = fault("throttling", { effect: "none" });
const lost = fault("transient");

describe.each([false, true])("a write with another provider (generators: %s)", (generators) => {
  /** A stack whose fallback says where it was done. */
  function made(guards: Parameters<Lab["stack"]>[0], idempotent = false) {
    const lab = new Lab();
    const asked: string[] = [];
    const other = elsewhere((because) => {
      asked.push(because.kind === "failed" ? because.effect : because.reason);
      return "elsewhere";
    });
    const stack = lab.stack([fallback(other), ...guards], {
      generators,
      idempotent,
      perform: (attempt, work) => {
        const given = (work as (attempt: unknown) => unknown)(attempt);
        if (attempt.kind === "fallback") attempt.succeed(given);
      },
    });
    return { lab, stack, asked };
  }

  it.each([
    ["never left", unsent],
    ["was turned away", turnedAway],
  ])("goes there when it %s", (_how, error) => {
    const { lab, stack, asked } = made([]);
    expect(only(lab.start(stack, lab.throws(error)), "ok").value).toBe("elsewhere");
    expect(asked).toEqual(["none"]);
  });

  it("goes there when it was refused here", () => {
    const { lab, stack, asked } = made([bulkhead({ limit: 1 })]);
    lab.start(stack, lab.hangs);
    expect(only(lab.start(stack, lab.gives(1)), "ok").value).toBe("elsewhere");
    expect(asked).toEqual(["full"]);
  });

  it("stays where it is when its outcome is unknown, with a key or without", () => {
    for (const fields of [PLAIN_CALL, KEYED]) {
      const { lab, stack, asked } = made([timeout(20)]);
      const calls = [lab.start(stack, lab.throws(lost), { fields }), lab.start(stack, lab.hangs, { fields })];
      lab.runtime.runToIdle();
      for (const call of calls) expect(only(call, "failed").effect).toBe("unknown");
      expect(asked).toEqual([]);
    }
  });

  it("stays where it is when an earlier attempt's outcome is unknown, whatever became of the last", () => {
    const { lab, stack, asked } = made([retry({ attempts: 2, backoff: immediately })]);
    const call = lab.start(stack, [lab.throws(lost), lab.throws(unsent)], { fields: KEYED });
    expect(only(call, "failed")).toMatchObject({ error: unsent, effect: "unknown", ended: "unsent" });
    const saved = lab.start(stack, [lab.throws(unsent), lab.throws(turnedAway)], { fields: KEYED });
    expect(only(saved, "ok").value).toBe("elsewhere");
    expect(asked).toEqual(["none"]);
  });

  it("stays where it is when the other of two copies may have done it", () => {
    const { lab, stack, asked } = made([hedge({ delayMs: 5 })], true);
    const call = lab.start(stack, [lab.throws(lost, 10), lab.throws(unsent, 10)]);
    lab.runtime.runToIdle();
    expect(only(call, "failed").effect).toBe("unknown");
    expect(asked).toEqual([]);
  });

  it("stays where it is when it was refused for what it is", () => {
    const { lab, stack } = made([]);
    expect(only(lab.start(stack, lab.throws(fault("permanent", { effect: "none" }))), "failed").class).toBe(
      "permanent",
    );
  });
});

it("is not tried on purpose: what was done would be done again", () => {
  const option = { ...elsewhere(() => 1), exercise: 0.1 };
  expect(() => new Lab().stack([fallback(option)])).toThrow("fallback.exercise is 0.1; allowed: nothing");
});

it("tells what certainly did not run", () => {
  const none: Failed = failed(0, "transient", { effect: "none" });
  expect([none, rejected("breaker", "open"), failed(0, "transient"), ok(1)].map(notExecuted)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
