import { describe, expect, it } from "vitest";
import { fault, Lab, only, type Started } from "../../../test/lib/lab.ts";
import { PLAIN_CALL } from "../call.ts";
import { retry } from "../retry/guard.ts";
import { timeout } from "../timeout/guard.ts";
import { Bulkhead, type BulkheadOptions, bulkhead } from "./guard.ts";

function made(options: BulkheadOptions, attemptTimeoutMs = 10_000) {
  const lab = new Lab();
  const cap = new Bulkhead(options, lab.runtime);
  return { lab, cap, stack: lab.stack([bulkhead(cap), timeout(attemptTimeoutMs)]) };
}

const started = (calls: readonly Started[]): boolean[] => calls.map((call) => call.sent.length > 0);

describe("bulkhead", () => {
  it("refuses at once when it is full and nobody may wait", () => {
    const { lab, cap, stack } = made({ limit: 2 });
    const calls = [0, 1, 2].map(() => lab.start(stack, lab.hangs));
    expect(started(calls)).toEqual([true, true, false]);
    expect(only(calls[2] as Started, "rejected")).toMatchObject({ by: "bulkhead", reason: "full" });
    expect(cap.gate.held).toBe(2);
  });

  it("lets waiters in, in order, when places come free, and no newcomer before them", () => {
    const { lab, cap, stack } = made({ limit: 1, queue: { maxWaiting: 3 } });
    const order: string[] = [];
    const named = (name: string) => (attempt: { succeed(value: unknown): void }) => {
      order.push(name);
      lab.runtime.after(10, () => attempt.succeed(name));
    };
    const calls = ["a", "b", "c", "d", "e"].map((name) => lab.start(stack, named(name)));
    expect(only(calls[4] as Started, "rejected").reason).toBe("queue full");
    expect(cap.waiting).toBe(3);
    lab.runtime.advance(10);
    lab.start(stack, named("late"));
    lab.runtime.runToIdle();
    expect(order).toEqual(["a", "b", "c", "d", "late"]);
    expect([cap.gate.held, cap.waiting, lab.runtime.pending]).toEqual([0, 0, 0]);
  });

  it("hands a place on in the same step, though the answer starts a newcomer", () => {
    const { lab, stack } = made({ limit: 1, queue: { maxWaiting: 9 } });
    const order: string[] = [];
    const one = stack.start(
      (attempt: { succeed(value: unknown): void }) => lab.runtime.after(5, () => attempt.succeed(1)),
      { criticality: "critical", tenant: "", key: "", idempotencyKey: undefined, bytes: 0 },
      Infinity,
      { answered: () => void lab.start(stack, () => order.push("newcomer")) },
    );
    lab.start(stack, (attempt) => {
      order.push("waiter");
      attempt.succeed(1);
    });
    lab.runtime.advance(5);
    expect(one.exit?.kind).toBe("ok");
    expect(order).toEqual(["waiter", "newcomer"]);
  });

  it("bounds the wait: by its own limit, and by the deadline", () => {
    const { lab, cap, stack } = made({ limit: 1, queue: { maxWaiting: 9, maxWaitMs: 50 } });
    lab.start(stack, lab.hangs);
    const [own, clipped] = [lab.start(stack, lab.gives(1)), lab.start(stack, lab.gives(1), { withinMs: 20 })];
    lab.runtime.advance(50);
    expect([clipped.answeredAt, own.answeredAt]).toEqual([20, 50]);
    expect(only(clipped, "rejected")).toMatchObject({ by: "deadline", reason: "expired" });
    expect(only(own, "rejected")).toMatchObject({ by: "bulkhead", reason: "waited too long" });
    expect(cap.waiting).toBe(0);
  });

  it("passes the place of one that expires at that moment on to the next", () => {
    const { lab, stack } = made({ limit: 1, queue: { maxWaiting: 9 } });
    lab.start(stack, lab.gives("first", 20));
    const late = lab.start(stack, lab.gives("late"), { withinMs: 20 });
    const next = lab.start(stack, lab.gives("next"));
    lab.runtime.advance(20);
    expect(only(late, "rejected").by).toBe("deadline");
    expect([only(next, "ok").value, next.answeredAt]).toEqual(["next", 20]);
  });

  it("starts the attempt's timeout after the wait", () => {
    const { lab, stack } = made({ limit: 1, queue: { maxWaiting: 1 } }, 100);
    lab.start(stack, lab.gives(1, 90));
    const second = lab.start(stack, lab.gives("done", 90));
    lab.runtime.advance(180);
    expect([only(second, "ok").value, second.answeredAt]).toEqual(["done", 180]);
  });

  it("keeps the place of work that ignores its timeout until it ends, and counts it", () => {
    const { lab, cap, stack } = made({ limit: 1 }, 50);
    const slow = lab.start(stack, lab.gives("late", 200));
    lab.runtime.advance(50);
    expect(only(slow, "failed").ended).toBe("timeout");
    expect([cap.gate.held, stack.leaf.abandoned]).toEqual([1, 1]);
    expect(only(lab.start(stack, lab.gives(1)), "rejected").by).toBe("bulkhead");
    lab.runtime.advance(150);
    expect([cap.gate.held, stack.leaf.abandoned, slow.answers.length]).toEqual([0, 0, 1]);
  });

  it("takes an abandoned place back only when told to, and gives it back once", () => {
    const { lab, cap, stack } = made({ limit: 1, reclaimAbandonedAfterMs: 30 }, 50);
    const work: { succeed(value: unknown): void }[] = [];
    lab.start(stack, (attempt) => work.push(attempt));
    lab.runtime.advance(79);
    expect(cap.gate.held).toBe(1);
    lab.runtime.advance(1);
    expect(cap.gate.held).toBe(0);
    const second = lab.start(stack, lab.hangs);
    work[0]?.succeed("at last");
    expect([second.sent.length, cap.gate.held]).toEqual([1, 1]);
    expect(lab.log.filter((type) => type === "attempt.ended")).toHaveLength(2);
  });

  it("takes back its own places only, each in its own time, around a sequence too", () => {
    const lab = new Lab();
    const made = (reclaimAbandonedAfterMs: number): Bulkhead =>
      new Bulkhead({ limit: 1, reclaimAbandonedAfterMs }, lab.runtime);
    const [never, soon, later, around] = [made(Infinity), made(10), made(30), made(20)] as [
      Bulkhead,
      Bulkhead,
      Bulkhead,
      Bulkhead,
    ];
    const stack = lab.stack([
      bulkhead(around),
      retry({ attempts: 1 }),
      bulkhead(never),
      bulkhead(soon),
      bulkhead(later),
      timeout(50),
    ]);
    const held = (): number[] => [never, soon, around, later].map((cap) => cap.gate.held);
    const call = lab.start(stack, lab.hangs);
    lab.runtime.advance(59);
    expect(held()).toEqual([1, 1, 1, 1]);
    for (const left of [
      [1, 0, 1, 1],
      [1, 0, 0, 1],
      [1, 0, 0, 0],
    ]) {
      lab.runtime.advance(left[2] === 1 ? 1 : 10);
      expect(held()).toEqual(left);
    }
    expect(lab.runtime.pending).toBe(0);
    call.sent[0]?.succeed("at last");
    expect(held()).toEqual([0, 0, 0, 0]);
  });

  it("takes nothing else back in place of what the end of the handler has given back", () => {
    const lab = new Lab();
    const handler = new Bulkhead({ limit: 1, holds: "handler", reclaimAbandonedAfterMs: 10 }, lab.runtime);
    const [later, never] = [20, Infinity].map(
      (reclaimAbandonedAfterMs) => new Bulkhead({ limit: 1, reclaimAbandonedAfterMs }, lab.runtime),
    ) as [Bulkhead, Bulkhead];
    const guards = [bulkhead(handler), bulkhead(later), bulkhead(never), timeout(50)];
    const inner = lab.stack([]);
    const call = lab.start(lab.stack(guards), (attempt) => {
      inner.startAt(0, lab.hangs, PLAIN_CALL, Infinity, null, attempt);
      lab.runtime.after(55, () => attempt.succeed("too late"));
    });
    const held = (): number[] => [handler, later, never].map((cap) => cap.gate.held);
    for (const [at, left] of [
      [54, [1, 1, 1]],
      [69, [0, 1, 1]],
      [70, [0, 0, 1]],
      [1_000, [0, 0, 1]],
    ] as const) {
      lab.runtime.advanceTo(at);
      expect(held()).toEqual(left);
    }
    expect([only(call, "failed").ended, lab.runtime.pending]).toEqual(["timeout", 0]);
  });

  it("holds a place for a body that outlives its answer", () => {
    const { lab, cap, stack } = made({ limit: 1 });
    let finish = (): void => {};
    const call = lab.start(stack, (attempt) => {
      finish = attempt.hold();
      attempt.succeed("headers");
    });
    expect([only(call, "ok").value, cap.gate.held, stack.leaf.abandoned]).toEqual(["headers", 1, 0]);
    finish();
    finish();
    expect(cap.gate.held).toBe(0);
  });

  it("abandons a body that nobody finishes within the attempt's time", () => {
    const { lab, cap, stack } = made({ limit: 1 }, 50);
    let finish = (): void => {};
    const reasons: unknown[] = [];
    lab.start(stack, (attempt) => {
      attempt.onAbort((reason) => reasons.push(reason));
      finish = attempt.hold();
      attempt.succeed("headers");
    });
    lab.runtime.advance(50);
    expect(reasons).toMatchObject([{ name: "TimeoutError", limitMs: 50, clipped: false }]);
    expect([cap.gate.held, stack.leaf.abandoned]).toEqual([1, 1]);
    finish();
    expect([cap.gate.held, stack.leaf.abandoned]).toEqual([0, 0]);
  });

  it("lets waiters in when it is enlarged, and nobody when it is made smaller", () => {
    const { lab, cap, stack } = made({ limit: 1, queue: { maxWaiting: 9 } });
    const calls = [0, 1, 2, 3].map(() => lab.start(stack, lab.gives(1, 10)));
    cap.resize(3);
    expect(started(calls)).toEqual([true, true, true, false]);
    cap.resize(1);
    lab.runtime.advance(10);
    expect(started(calls)).toEqual([true, true, true, true]);
    expect(cap.gate.held).toBe(1);
  });

  it("stands once among its neighbours, and beside no other queue", () => {
    const lab = new Lab();
    const cap = new Bulkhead({ limit: 2 }, lab.runtime);
    const waits = { limit: 1, queue: { maxWaiting: 1 } };
    expect(() => lab.stack([bulkhead(cap), bulkhead(cap)])).toThrow(/once among neighbours/);
    expect(() => lab.stack([bulkhead(waits), bulkhead(waits)])).toThrow(/one queue among neighbours/);
    lab.stack([bulkhead(waits), bulkhead({ limit: 1 })]);
    lab.stack([bulkhead(cap), retry(), bulkhead(cap)]);
  });

  it("lets nobody wait whose time is over, or who would start with too little of it", () => {
    const { lab, cap } = made({ limit: 1, queue: { maxWaiting: 9 } });
    const stack = lab.stack([bulkhead(cap)], { minUsefulMs: 10 });
    const scope = lab.stack([bulkhead(cap), retry()]);
    lab.start(stack, lab.gives(1, 20));
    const [waiting, late] = [
      lab.start(stack, lab.gives(2), { withinMs: 25 }),
      lab.start(scope, lab.hangs, { withinMs: -1 }),
    ];
    expect([only(late, "rejected").by, cap.waiting]).toEqual(["deadline", 1]);
    lab.runtime.advance(20);
    expect(only(waiting, "rejected")).toMatchObject({ by: "deadline", reason: "too little time left" });
    expect(cap.gate.held).toBe(0);
  });

  it("caps a whole sequence when it stands around one", () => {
    const lab = new Lab();
    const cap = new Bulkhead({ limit: 1 }, lab.runtime);
    const stack = lab.stack([
      bulkhead(cap),
      retry({ attempts: 2, backoff: { kind: "constant", delayMs: 20 } }),
      timeout(100),
    ]);
    const call = lab.start(stack, [lab.throws(fault("transient")), lab.gives("second", 30)]);
    expect(cap.gate.held).toBe(1);
    lab.runtime.advance(20);
    expect([cap.gate.held, call.sent.length]).toEqual([1, 2]);
    lab.runtime.advance(30);
    expect([only(call, "ok").value, cap.gate.held]).toEqual(["second", 0]);
  });
});

it("is shared by stacks of one runtime only: no other loop would call its waiters", () => {
  const shared = new Bulkhead({ limit: 1 }, new Lab().runtime);
  expect(() => new Lab().stack([bulkhead(shared)])).toThrow(
    expect.objectContaining({ name: "OptionError", field: "bulkhead" }),
  );
});
