import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callOf } from "../../../test/lib/lab.ts";
import { constant, exponential, immediately } from "../backoff/machine.ts";
import { RetryBudget } from "../budget/machine.ts";
import { type Call, type Exit, failed, ok, PLAIN_CALL, rejected } from "../call.ts";
import { SeededRandom } from "../random.ts";
import { MAX_TIMER_MS } from "../runtime.ts";
import { RetryPolicy } from "./machine.ts";

const random = new SeededRandom(1);
const transient = failed("x", "transient");
const decide = (
  exit: Exit,
  {
    number = 1,
    call = callOf(),
    now = 0,
    policy = new RetryPolicy({ backoff: constant(100) }, null, 0),
  } = {},
) => policy.decide(exit, number, call, now, 0, random);

describe("RetryPolicy", () => {
  it("makes three attempts by default, with full jitter", () => {
    const policy = new RetryPolicy({}, null, 0);
    expect(policy.attempts).toBe(3);
    for (let i = 0; i < 100; i++) {
      const again = policy.decide(transient, 1, callOf(), 0, 0, random);
      expect(again).toMatchObject({ kind: "again" });
      expect((again as { delayMs: number }).delayMs).toBeLessThan(50);
    }
    expect(decide(transient, { number: 3, policy })).toMatchObject({ by: "retry", reason: "attempts spent" });
  });

  it("leaves alone what is final in itself", () => {
    const final: Exit[] = [
      ok(1),
      rejected("breaker", "open"),
      { kind: "cancelled", reason: 1 },
      failed("x", "permanent"),
      failed("x", "transient", { ended: "clipped" }),
    ];
    for (const exit of final) expect(decide(exit)).toBeNull();
    expect(decide(transient, { policy: new RetryPolicy({ attempts: 1 }, null, 0) })).toBeNull();
  });

  it("repeats nothing but what was not sent, where that is all it is to repeat", () => {
    const policy = new RetryPolicy({ only: "unsent", backoff: constant(100) }, null, 0);
    const harmless = callOf(Infinity, true);
    for (const exit of [transient, failed("x", "transient", { ended: "timeout", effect: "none" })]) {
      expect(decide(exit, { call: harmless, policy })).toBeNull();
    }
    const unsent = failed("x", "throttling", { ended: "unsent", effect: "none" });
    expect(decide(unsent, { call: callOf(Infinity, false), policy })).toMatchObject({ kind: "again" });
    expect(() => new RetryPolicy({ only: "sent" } as never, null, 0)).toThrow("retry.only is ");
  });

  it("repeats what may have taken effect only if a repeat is harmless", () => {
    const keyed = callOf(Infinity, false, { ...PLAIN_CALL, idempotencyKey: "k" });
    const write: Call = callOf(Infinity, false);
    const timeout = failed("x", "transient", { ended: "timeout" });
    for (const exit of [transient, timeout, failed("x", "unknown")]) {
      expect(decide(exit, { call: write })).toMatchObject({ by: "retry", reason: "not repeatable" });
      expect(decide(exit, { call: keyed })).toMatchObject({ kind: "again" });
    }
    expect(decide(failed("x", "transient", { effect: "none" }), { call: write })).toMatchObject({
      kind: "again",
    });
    expect(decide(failed("x", "transient", { ended: "unsent" }), { call: write })).toMatchObject({
      kind: "again",
    });
  });

  it("obeys the dependency's own word", () => {
    expect(decide(failed("x", "throttling", { pushback: "never" }))).toMatchObject({ reason: "told not to" });
    expect(decide(failed("x", "throttling", { pushback: 400 }))).toMatchObject({ delayMs: 500 });
    expect(decide(failed("x", "throttling", { pushback: 0 }))).toMatchObject({ delayMs: 100 });
  });

  it("reads no nonsense out of that word: the wait stays a finite number that a timer can keep", () => {
    for (const pushback of [Number.NaN, -5, "soon" as never, null as never])
      expect(decide(failed("x", "throttling", { pushback })), String(pushback)).toMatchObject({
        delayMs: 100,
      });
    for (const pushback of [1e12, Infinity])
      expect(decide(failed("x", "throttling", { pushback }))).toMatchObject({ delayMs: MAX_TIMER_MS });
  });

  it("refuses a repeat that could not start in time, instead of sleeping for it", () => {
    const noTime = { by: "deadline", reason: "no time for another attempt" };
    expect(decide(transient, { call: callOf(1000), now: 899 })).toMatchObject({ kind: "again" });
    expect(decide(transient, { call: callOf(1000), now: 900 })).toMatchObject(noTime);
    const useful = new RetryPolicy({ backoff: constant(100) }, null, 50);
    expect(decide(transient, { call: callOf(1000), now: 850, policy: useful })).toMatchObject({
      kind: "again",
    });
    expect(decide(transient, { call: callOf(1000), now: 851, policy: useful })).toMatchObject(noTime);
  });

  it("reserves a token when it decides, and only when everything else agrees", () => {
    const budget = new RetryBudget({ burst: 1 });
    const policy = new RetryPolicy({ backoff: constant(100) }, budget, 0);
    for (const [exit, more] of [
      [failed("x", "permanent"), {}],
      [failed("x", "throttling", { pushback: "never" }), {}],
      [transient, { number: 3 }],
      [transient, { call: callOf(50) }],
      [transient, { call: callOf(Infinity, false) }],
    ] as const) {
      decide(exit, { policy, ...more });
      expect(budget.reserved).toBe(0);
    }
    expect(decide(transient, { policy })).toMatchObject({ kind: "again", token: { kind: "token" } });
    expect(budget.reserved).toBe(1);
    expect(decide(transient, { policy })).toMatchObject({ by: "budget", reason: "empty" });
  });

  it("keeps nothing about a call: attempts count per call, and the first wait is the base (case 031, 032)", () => {
    const policy = new RetryPolicy({ attempts: 3, backoff: exponential({ baseMs: 100 }) }, null, 0);
    for (let call = 0; call < 3; call++) {
      expect(decide(transient, { policy, number: 1 })).toMatchObject({ delayMs: 100 });
      expect(decide(failed("x", "throttling"), { policy, number: 2 })).toMatchObject({ delayMs: 200 });
      expect(decide(transient, { policy, number: 3 })).toMatchObject({ reason: "attempts spent" });
    }
  });

  it("never waits past the deadline, nor beyond its attempts (property)", () => {
    const input = fc.record({
      attempts: fc.integer({ min: 1, max: 100 }),
      number: fc.integer({ min: 1, max: 100 }),
      now: fc.double({ min: 0, max: 1e6, noNaN: true }),
      left: fc.oneof(fc.constant(Infinity), fc.double({ min: -10, max: 1e5, noNaN: true })),
      minUsefulMs: fc.nat({ max: 500 }),
      pushback: fc.oneof(fc.constant(undefined), fc.double({ min: 0, max: 1e5, noNaN: true })),
    });
    fc.assert(
      fc.property(input, ({ attempts, number, now, left, minUsefulMs, pushback }) => {
        const policy = new RetryPolicy({ attempts, backoff: immediately }, null, minUsefulMs);
        const exit = failed("x", "throttling", pushback === undefined ? {} : { pushback });
        const decision = policy.decide(exit, number, callOf(now + left), now, 0, random);
        if (decision?.kind !== "again") return;
        expect(number).toBeLessThan(attempts);
        expect(decision.delayMs).toBeGreaterThanOrEqual(pushback ?? 0);
        expect(now + decision.delayMs).toBeLessThan(now + left);
        expect(left - decision.delayMs).toBeGreaterThanOrEqual(minUsefulMs - 1e-6);
      }),
    );
  });
});
