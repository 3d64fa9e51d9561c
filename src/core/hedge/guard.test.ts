import { describe, expect, it } from "vitest";
import { fault, Lab, only, type Script } from "../../../test/lib/lab.ts";
import { immediately } from "../backoff/machine.ts";
import { breaker } from "../breaker/guard.ts";
import { CircuitBreaker } from "../breaker/machine.ts";
import { BreakerPolicy, fixed } from "../breaker/options.ts";
import { RetryBudget } from "../budget/machine.ts";
import { Bulkhead, bulkhead } from "../bulkhead/guard.ts";
import { fallback } from "../fallback/guard.ts";
import { retry } from "../retry/guard.ts";
import { timeout } from "../timeout/guard.ts";
import { hedge } from "./guard.ts";

const stopped = (lab: Lab): unknown =>
  lab.events.flatMap((event) => (event.type === "hedge.stopped" ? [`${event.by}: ${event.reason}`] : []));

describe("hedge", () => {
  it("sends a second attempt when the first is slow; the first answer wins, the other is given up", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 50 }), timeout(500)]);
    const reasons: unknown[] = [];
    const call = lab.start(stack, [
      (attempt) => attempt.onAbort((reason) => reasons.push(reason)),
      lab.gives("hedge", 20),
    ]);
    lab.runtime.advance(49);
    expect(call.sent).toHaveLength(1);
    lab.runtime.advance(21);
    expect([only(call, "ok").value, call.answeredAt]).toEqual(["hedge", 70]);
    expect(call.sent.map(({ kind, state }) => [kind, state])).toEqual([
      ["original", "answered"],
      ["hedge", "ended"],
    ]);
    expect([reasons.length, stack.leaf.abandoned]).toEqual([1, 1]);
    call.sent[0]?.succeed("too late");
    expect([stack.leaf.abandoned, lab.runtime.pending, call.answers.length]).toEqual([0, 0, 1]);
  });

  it("sends none when the first is quick, whatever it says", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 50 })]);
    const calls = [lab.start(stack, lab.gives(1, 49)), lab.start(stack, lab.throws(fault("transient"), 49))];
    lab.runtime.runToIdle();
    expect(calls.map((call) => [call.sent.length, call.answers[0]?.kind])).toEqual([
      [1, "ok"],
      [1, "failed"],
    ]);
  });

  it("waits for the other when one fails, and reports the later failure when both do", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 50 })]);
    const [one, two] = [fault("transient"), fault("transient")];
    const saved = lab.start(stack, [lab.throws(one, 60), lab.gives("hedge", 40)]);
    const lost = lab.start(stack, [lab.throws(one, 60), lab.throws(two, 40)]);
    lab.runtime.runToIdle();
    expect([only(saved, "ok").value, saved.answeredAt]).toEqual(["hedge", 90]);
    expect([only(lost, "failed").error, lost.answeredAt]).toEqual([two, 90]);
  });

  it("does not end the race when the second is refused locally", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 50 }), bulkhead({ limit: 1 })]);
    const won = lab.start(stack, lab.gives("first", 90));
    lab.runtime.runToIdle();
    expect([only(won, "ok").value, won.answeredAt, won.sent.length]).toEqual(["first", 90, 1]);
    const error = fault("transient");
    const failed = lab.start(stack, lab.throws(error, 90));
    lab.runtime.runToIdle();
    expect(only(failed, "failed").error).toBe(error);
  });

  it("spends from the budget, and does without when it is empty", () => {
    const lab = new Lab();
    const budget = new RetryBudget({ ratio: 0, burst: 1 });
    const stack = lab.stack([hedge({ delayMs: 50 })], { budget });
    const calls = [0, 1].map(() => lab.start(stack, lab.gives(1, 80)));
    lab.runtime.runToIdle();
    expect(calls.map((call) => call.sent.length)).toEqual([2, 1]);
    expect(budget).toMatchObject({ firsts: 2, repeats: 1, reserved: 0 });
    expect(stopped(lab)).toEqual(["budget: empty"]);
  });

  it.each(["waits too long", "is cancelled"])("hands its token back when the second %s", (why) => {
    const lab = new Lab();
    const budget = new RetryBudget({ ratio: 0, burst: 1 });
    const cap = new Bulkhead({ limit: 1, queue: { maxWaiting: 1, maxWaitMs: 20 } }, lab.runtime);
    const stack = lab.stack([hedge({ delayMs: 50 }), bulkhead(cap)], { budget });
    const call = lab.start(stack, lab.gives(1, 80));
    lab.runtime.advance(60);
    expect([budget.reserved, cap.waiting]).toEqual([1, 1]);
    if (why === "is cancelled") call.process.cancel("gone");
    lab.runtime.advance(20);
    expect(call.answers).toMatchObject([{ kind: why === "is cancelled" ? "cancelled" : "ok" }]);
    expect([budget.reserved, budget.repeats, budget.level, cap.waiting, cap.gate.held]).toEqual([
      0, 0, 1, 0, 0,
    ]);
  });

  it("pays for its repeats through a retry within it, too", () => {
    const lab = new Lab();
    const budget = new RetryBudget({ ratio: 0, burst: 5 });
    const stack = lab.stack([hedge({ delayMs: 50 }), retry({ attempts: 2, backoff: immediately })], {
      budget,
    });
    const call = lab.start(stack, [lab.hangs, lab.throws(fault("transient"), 10), lab.gives("third", 10)]);
    lab.runtime.runToIdle();
    expect(only(call, "ok").value).toBe("third");
    expect(budget).toMatchObject({ firsts: 1, repeats: 2, reserved: 0, level: 3 });
  });

  it("does not hedge a call that has not been sent, nor a probe, and makes no probe of a hedge", () => {
    const lab = new Lab();
    const queued = lab.stack([hedge({ delayMs: 50 }), bulkhead({ limit: 1, queue: { maxWaiting: 9 } })]);
    lab.start(queued, lab.gives(1, 100));
    lab.start(queued, lab.gives(2, 10));
    lab.runtime.advance(50);
    const machine = new CircuitBreaker(
      new BreakerPolicy({ window: { calls: 1 }, openMs: 10, reopen: fixed(), probes: 5 }),
    );
    const probing = lab.stack([hedge({ delayMs: 50 }), breaker(machine)]);
    const slow = lab.start(probing, lab.gives("slow", 90));
    lab.start(probing, lab.throws(fault("transient")));
    lab.runtime.advance(10);
    const probe = lab.start(probing, lab.gives("probe", 70));
    expect(probe.sent[0]?.kind).toBe("probe");
    lab.runtime.runToIdle();
    expect(stopped(lab)).toEqual([
      "hedge: the first attempt has not been sent",
      "hedge: the first attempt is a probe",
    ]);
    expect(slow.sent).toHaveLength(1);
    expect(lab.events).toContainEqual(
      expect.objectContaining({
        type: "attempt.refused",
        by: "breaker",
        reason: "half-open, probes are out",
      }),
    );
    expect([only(slow, "ok").value, only(probe, "ok").value]).toEqual(["slow", "probe"]);
  });

  it("does not hedge a fallback within it", () => {
    const lab = new Lab();
    const stack = lab.stack([
      hedge({ delayMs: 20 }),
      fallback((_because, attempt) => lab.gives("substitute", 30)(attempt)),
    ]);
    const call = lab.start(stack, [lab.throws(fault("transient")), lab.gives("hedge")]);
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.sent.length]).toEqual(["substitute", 1]);
    expect(stopped(lab)).toEqual(["hedge: the first attempt has not been sent"]);
  });

  it("gives up both when its call is cancelled", () => {
    const lab = new Lab();
    const cap = new Bulkhead({ limit: 2 }, lab.runtime);
    const stack = lab.stack([hedge({ delayMs: 50 }), bulkhead(cap), timeout(500)]);
    const reasons: unknown[] = [];
    const call = lab.start(stack, (attempt) => attempt.onAbort((reason) => reasons.push(reason)));
    lab.runtime.advance(60);
    call.process.cancel("gone");
    expect(only(call, "cancelled").reason).toBe("gone");
    expect([reasons, cap.gate.held, lab.runtime.pending]).toEqual([["gone", "gone"], 2, 0]);
    for (const attempt of call.sent) attempt.succeed(1);
    expect(cap.gate.held).toBe(0);
  });

  it("is refused for what is not idempotent", () => {
    const lab = new Lab();
    expect(() => lab.stack([hedge({ delayMs: 50 })], { idempotent: false })).toThrow(/idempotent/);
  });
});

describe("tied hedges", () => {
  /** Work that begins after `queuedMs` at the callee, and takes `ms` from then on. */
  const served =
    (lab: Lab, queuedMs: number, ms: number, value: string): Script =>
    (attempt) =>
      void lab.runtime.after(queuedMs, () => {
        if (attempt.state !== "sent") return attempt.succeed("not begun");
        attempt.started();
        lab.runtime.after(ms, () => attempt.succeed(value));
      });

  it("gives the others up when the callee has begun on one, and sends no more", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 5, attempts: 3, tied: true })]);
    const call = lab.start(stack, [served(lab, 30, 20, "first"), served(lab, 3, 20, "second")]);
    lab.runtime.advance(9);
    expect(call.sent.map(({ state }) => state)).toEqual(["answered", "sent"]);
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.answeredAt, call.sent.length]).toEqual(["second", 28, 2]);
    expect(stopped(lab)).toEqual(["hedge: the callee has begun"]);
    expect(stack.leaf.abandoned).toBe(0);
  });

  it("sends none where the first has begun before its time", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 5, tied: true })]);
    const call = lab.start(stack, served(lab, 2, 50, "first"));
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.sent.length]).toEqual(["first", 1]);
  });

  it("reports the failure of the one that began, since no other is left", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 5, tied: true })]);
    const error = fault("transient");
    const call = lab.start(stack, [
      lab.hangs,
      (attempt) => {
        attempt.started();
        attempt.started(); // saying it twice changes nothing
        attempt.fail(error);
      },
    ]);
    lab.runtime.runToIdle();
    expect([only(call, "failed").error, call.answeredAt]).toEqual([error, 5]);
  });

  it("hands the token of a tied hedge back that still waited for a place here", () => {
    const lab = new Lab();
    const budget = new RetryBudget({ ratio: 0, burst: 1 });
    const cap = { limit: 1, queue: { maxWaiting: 1, maxWaitMs: 100 } };
    const stack = lab.stack([hedge({ delayMs: 5, tied: true }), bulkhead(cap)], { budget });
    const call = lab.start(stack, served(lab, 10, 20, "first"));
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.sent.length]).toEqual(["first", 1]);
    expect(budget).toMatchObject({ repeats: 0, reserved: 0 });
  });

  it("hears nothing of an attempt that has ended", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 5, tied: true })]);
    const call = lab.start(stack, [lab.throws(fault("transient"), 10), served(lab, 20, 10, "second")]);
    lab.runtime.advance(12);
    call.sent[0]?.started();
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.answeredAt]).toEqual(["second", 35]);
  });

  it.each([
    ["had been sent: nobody will know what it has done", { limit: 2 }, "unknown"],
    ["waited for a place: it has done nothing", { limit: 1, queue: { maxWaiting: 1 } }, "none"],
  ])("says of a failure, where the other %s", (_which, cap, effect) => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 5, tied: true }), bulkhead(cap)]);
    const unsent = fault("transient", { effect: "none", ended: "unsent" });
    const begins: Script = (attempt) =>
      void lab.runtime.after(10, () => {
        attempt.started();
        attempt.fail(unsent);
      });
    const call = lab.start(stack, [begins, lab.hangs]);
    lab.runtime.runToIdle();
    expect(only(call, "failed")).toMatchObject({ error: unsent, effect });
  });

  it("means nothing to attempts that are not tied", () => {
    const lab = new Lab();
    const stack = lab.stack([hedge({ delayMs: 5 })]);
    const call = lab.start(stack, [served(lab, 0, 50, "first"), served(lab, 1, 10, "second")]);
    lab.runtime.runToIdle();
    expect([only(call, "ok").value, call.answeredAt]).toEqual(["second", 16]);
  });
});
