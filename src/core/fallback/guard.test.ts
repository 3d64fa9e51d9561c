import { describe, expect, it } from "vitest";
import { fault, Lab, only } from "../../../test/lib/lab.ts";
import type { Attempt } from "../attempt.ts";
import { constant } from "../backoff/machine.ts";
import { breaker } from "../breaker/guard.ts";
import { CircuitBreaker } from "../breaker/machine.ts";
import { BreakerPolicy } from "../breaker/options.ts";
import { bulkhead } from "../bulkhead/guard.ts";
import { failed } from "../call.ts";
import type { Result } from "../leaf.ts";
import { retry } from "../retry/guard.ts";
import { timeout } from "../timeout/guard.ts";
import { fallback } from "./guard.ts";

const drivers = [
  ["fused", false],
  ["generators", true],
] as const;

/** Work of a fallback that answers by itself, as a promise would. */
const answering = (script: (attempt: Attempt) => void) => (_because: unknown, attempt: Attempt) =>
  script(attempt);

describe.each(drivers)("fallback, %s", (_name, generators) => {
  it("answers in place of a failure, marked by what it replaced", () => {
    const lab = new Lab();
    const error = fault("transient");
    const stack = lab.stack([fallback(answering((attempt) => attempt.succeed("substitute")))], {
      generators,
    });
    const exit = only(lab.start(stack, lab.throws(error)), "ok");
    expect(exit.value).toBe("substitute");
    expect(exit.degradedBy).toMatchObject({ kind: "failed", error });
  });

  it("is not judged as the dependency's answers are", () => {
    const lab = new Lab();
    const judge = (result: Result) =>
      (result as { value: { busy: boolean } }).value.busy ? failed(1, "transient") : undefined;
    const stack = lab.stack([fallback(answering((attempt) => attempt.succeed(null)))], { generators, judge });
    expect(only(lab.start(stack, lab.gives({ busy: true })), "ok").value).toBe(null);
  });

  it("answers in place of a refusal", () => {
    const lab = new Lab();
    const heard: unknown[] = [];
    const stack = lab.stack(
      [
        fallback((because, attempt) => {
          heard.push(because);
          attempt.succeed("substitute");
        }),
        bulkhead({ limit: 1 }),
      ],
      { generators },
    );
    lab.start(stack, lab.hangs);
    const exit = only(lab.start(stack, lab.hangs), "ok");
    expect(exit.degradedBy).toMatchObject({ kind: "rejected", by: "bulkhead" });
    expect(heard).toEqual([exit.degradedBy]);
  });

  it("leaves permanent failures, cancels and whole answers alone", () => {
    const lab = new Lab();
    let used = 0;
    const stack = lab.stack([fallback(answering(() => used++))], { generators });
    only(lab.start(stack, lab.throws(fault("permanent"))), "failed");
    only(lab.start(stack, lab.gives(1)), "ok");
    const call = lab.start(stack, lab.hangs);
    call.process.cancel("gone");
    only(call, "cancelled");
    expect(used).toBe(0);
    const all = lab.stack([fallback({ run: answering((attempt) => attempt.succeed(2)), permanent: true })], {
      generators,
    });
    expect(only(lab.start(all, lab.throws(fault("permanent"))), "ok").value).toBe(2);
  });

  it("reports the first failure when the substitute fails too, or takes too long", () => {
    const lab = new Lab();
    const error = fault("transient");
    const throwing = lab.stack(
      [
        fallback(() => {
          throw new Error("no substitute either");
        }),
      ],
      { generators },
    );
    expect(only(lab.start(throwing, lab.throws(error)), "failed").error).toBe(error);
    const hanging = lab.stack([fallback(() => {})], { generators });
    const call = lab.start(hanging, lab.throws(error));
    lab.runtime.advance(99);
    expect(call.answers).toEqual([]);
    lab.runtime.advance(1);
    expect([only(call, "failed").error, call.answeredAt]).toEqual([error, 100]);
  });

  it("has time of its own: the primary's deadline is earlier", () => {
    const lab = new Lab();
    const stack = lab.stack(
      [fallback({ run: answering(lab.gives("substitute", 30)), reserveMs: 40 }), timeout(1000)],
      { generators },
    );
    const call = lab.start(stack, lab.hangs, { withinMs: 100 });
    expect(call.sent[0]?.deadline).toBe(60);
    lab.runtime.advance(100);
    expect([only(call, "ok").value, call.answeredAt]).toEqual(["substitute", 90]);
    const late = lab.start(stack, lab.hangs, { withinMs: 40 });
    expect(late.sent).toEqual([]);
    lab.runtime.advance(30);
    expect(only(late, "ok").degradedBy).toMatchObject({ by: "deadline" });
  });

  it("takes no place, no token and is no evidence", () => {
    const lab = new Lab();
    const machine = new CircuitBreaker(new BreakerPolicy({ window: { calls: 2 } }));
    const stack = lab.stack(
      [
        fallback(() => {
          throw new Error("no substitute");
        }),
        retry({ attempts: 1, backoff: constant(1) }),
        breaker(machine),
        bulkhead({ limit: 1 }),
      ],
      { generators },
    );
    lab.start(stack, lab.throws(fault("transient")));
    expect(machine.state).toMatchObject({ name: "closed", window: { total: 1, failures: 1 } });
  });

  it("is cancelled like any attempt", () => {
    const lab = new Lab();
    const reasons: unknown[] = [];
    const stack = lab.stack(
      [fallback(answering((attempt) => attempt.onAbort((reason) => reasons.push(reason))))],
      {
        generators,
      },
    );
    const call = lab.start(stack, lab.throws(fault("transient")));
    call.process.cancel("gone");
    expect(only(call, "cancelled").reason).toBe("gone");
    expect([reasons, lab.runtime.pending]).toEqual([["gone"], 0]);
  });
});
