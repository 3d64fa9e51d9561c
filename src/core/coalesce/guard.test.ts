import { describe, expect, it } from "vitest";
import { fault, Lab, only, type Script } from "../../../test/lib/lab.ts";
import { constant } from "../backoff/machine.ts";
import { bulkhead } from "../bulkhead/guard.ts";
import { PLAIN_CALL } from "../call.ts";
import { retry } from "../retry/guard.ts";
import { timeout } from "../timeout/guard.ts";
import { coalesce } from "./guard.ts";
import type { CoalesceOptions } from "./machine.ts";

function made(options: CoalesceOptions = {}, within: Parameters<Lab["stack"]>[0] = []) {
  const lab = new Lab();
  const stack = lab.stack([coalesce(options), ...within]);
  const ask = (
    script: Script | readonly Script[],
    about: { key?: string; tenant?: string; withinMs?: number } = {},
  ) => {
    const { key = "k", tenant = "", withinMs = Infinity } = about;
    return lab.start(stack, script, { withinMs, fields: { ...PLAIN_CALL, key, tenant } });
  };
  return { lab, stack, ask };
}

describe("coalescing", () => {
  it("sends one for all who ask the same at the same time, and gives all its answer", () => {
    const { lab, ask } = made();
    const calls = [ask(lab.gives("shared", 10)), ask(lab.gives("own", 10)), ask(lab.gives("own", 10))];
    lab.runtime.advance(5);
    calls.push(ask(lab.gives("own", 10)));
    lab.runtime.runToIdle();
    expect(calls.map((call) => only(call, "ok").value)).toEqual(["shared", "shared", "shared", "shared"]);
    expect(calls.map((call) => call.sent.length)).toEqual([1, 0, 0, 0]);
    expect(calls.map((call) => call.answeredAt)).toEqual([10, 10, 10, 10]);
  });

  it("sends another when the one before has been answered", () => {
    const { lab, ask } = made();
    const first = ask(lab.gives(1, 10));
    lab.runtime.advance(10);
    const second = ask(lab.gives(2, 10));
    lab.runtime.runToIdle();
    expect([only(first, "ok").value, only(second, "ok").value]).toEqual([1, 2]);
  });

  it("keeps keys and tenants apart, and shares nothing without a key", () => {
    const { lab, ask } = made();
    const calls = [
      ask(lab.gives(1, 10), { key: "a" }),
      ask(lab.gives(2, 10), { key: "b" }),
      ask(lab.gives(3, 10), { key: "a", tenant: "x" }),
      ask(lab.gives(4, 10), { key: "xa" }),
      ask(lab.gives(5, 10), { key: "" }),
      ask(lab.gives(6, 10), { key: "" }),
    ];
    lab.runtime.runToIdle();
    expect(calls.map((call) => only(call, "ok").value)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("lets each wait until its own deadline, and goes on for the others", () => {
    const { lab, ask } = made();
    const patient = ask(lab.gives("late", 100));
    const hasty = ask(lab.hangs, { withinMs: 30 });
    lab.runtime.advance(30);
    expect(only(hasty, "failed")).toMatchObject({ ended: "clipped" });
    lab.runtime.runToIdle();
    expect([only(patient, "ok").value, patient.answeredAt]).toEqual(["late", 100]);
  });

  it("goes on when the first leaves, and is given up when all have left", () => {
    const { lab, stack, ask } = made();
    const reasons: unknown[] = [];
    const first = ask((attempt) => {
      attempt.onAbort((reason) => reasons.push(reason));
      lab.runtime.after(50, () => attempt.succeed("for the others"));
    });
    const second = ask(lab.hangs);
    first.process.cancel("gone");
    expect(reasons).toEqual([]);
    lab.runtime.advance(50);
    expect(only(second, "ok").value).toBe("for the others");

    const last = ask((attempt) => attempt.onAbort((reason) => reasons.push(reason)));
    last.process.cancel("nobody left");
    expect([reasons, stack.leaf.abandoned]).toEqual([["nobody left"], 1]);
    const next = ask(lab.gives("a new one", 5));
    lab.runtime.advance(5);
    expect(only(next, "ok").value).toBe("a new one");
  });

  it("begins anew for who has more time than the one that began it", () => {
    const { lab, ask } = made();
    const hasty = ask([lab.hangs], { withinMs: 20 });
    const patient = ask([lab.gives("in time", 30)], { withinMs: 200 });
    lab.runtime.runToIdle();
    expect(only(hasty, "failed").ended).toBe("clipped");
    expect([only(patient, "ok").value, patient.answeredAt]).toEqual(["in time", 50]);
  });

  it("retries within one flight, not once for each caller", () => {
    const { lab, ask } = made({}, [retry({ attempts: 3, backoff: constant(5) }), timeout(100)]);
    const error = fault("transient");
    const calls = [1, 2, 3].map(() =>
      ask([lab.throws(error, 1), lab.throws(error, 1), lab.gives("third", 1)]),
    );
    lab.runtime.runToIdle();
    expect(calls.map((call) => only(call, "ok").value)).toEqual(["third", "third", "third"]);
    expect(calls.map((call) => call.sent.length)).toEqual([3, 0, 0]);
  });

  it("gives all the same failure; and for a while to those who ask again, if told to", () => {
    const { lab, ask } = made({ shareFailuresMs: 100 });
    const error = fault("transient");
    const calls = [ask(lab.throws(error, 10)), ask(lab.hangs)];
    lab.runtime.advance(10);
    expect(calls.map((call) => only(call, "failed").error)).toEqual([error, error]);
    lab.runtime.advance(99);
    const again = ask(lab.gives("not asked"));
    expect([only(again, "failed").error, again.sent.length]).toEqual([error, 0]);
    lab.runtime.advance(1);
    expect(only(ask(lab.gives("asked")), "ok").value).toBe("asked");
  });

  it("is bounded in who waits and in flights", () => {
    const { lab, ask } = made({ maxWaiting: 2, maxFlights: 1 });
    ask(lab.gives(1, 10));
    ask(lab.hangs);
    expect(only(ask(lab.hangs), "rejected")).toMatchObject({ by: "coalesce", reason: "too many wait" });
    const alone = ask(lab.gives("by itself", 1), { key: "other" });
    lab.runtime.advance(1);
    expect(only(alone, "ok").value).toBe("by itself");
  });

  it("takes one place for all", () => {
    const { lab, ask } = made({}, [bulkhead({ limit: 1 })]);
    const calls = [ask(lab.gives(1, 10)), ask(lab.hangs), ask(lab.hangs)];
    lab.runtime.runToIdle();
    expect(calls.map((call) => call.answers[0]?.kind)).toEqual(["ok", "ok", "ok"]);
  });

  it("tells who joined which flight, and answers each call once", () => {
    const { lab, ask } = made();
    ask(lab.gives(1, 10));
    ask(lab.hangs);
    lab.runtime.runToIdle();
    const joined = lab.events.flatMap((event) =>
      event.type === "call.joined" ? [[event.call, event.flight]] : [],
    );
    const sent = lab.events.find((event) => event.type === "attempt.sent");
    expect(joined).toEqual([
      [expect.any(Number), sent?.call],
      [expect.any(Number), sent?.call],
    ]);
    expect(lab.events.filter((event) => event.type === "call.answered").map((event) => event.call)).toEqual(
      joined.map(([call]) => call),
    );
  });

  it("leaves no timer behind", () => {
    const { lab, ask } = made();
    for (let i = 0; i < 5; i++) ask(lab.gives(1, 10), { withinMs: 1_000 });
    lab.runtime.advance(10);
    expect(lab.runtime.pending).toBe(0);
  });
});

it("is refused for what is not idempotent, and with wrong options", () => {
  const lab = new Lab();
  expect(() => lab.stack([coalesce()], { idempotent: false })).toThrow("coalesce");
  const wrong = { maxWaiting: 0, maxFlights: Number.NaN, shareFailuresMs: 60_001, ttlMs: 1 };
  for (const [field, value] of Object.entries(wrong)) {
    expect(() => lab.stack([coalesce({ [field]: value })]), field).toThrow(`coalesce.${field}`);
  }
});
