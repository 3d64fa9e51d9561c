import { describe, expect, it } from "vitest";
import { fault, Lab, only } from "../../../test/lib/lab.ts";
import { immediately } from "../backoff/machine.ts";
import { breaker } from "../breaker/guard.ts";
import { CircuitBreaker } from "../breaker/machine.ts";
import { BreakerPolicy } from "../breaker/options.ts";
import { degraded, failed } from "../call.ts";
import { OptionError, UnsoundReplyError } from "../errors.ts";
import { retry } from "../retry/guard.ts";
import { type Soundness, validating } from "./validating.ts";

interface Page {
  readonly items: readonly number[];
  readonly total: number;
}

/** A page of items that says how many there should be. */
const soundness = ({ items, total }: Page): Soundness => {
  if (items.some((item) => item < 0)) return "corrupt";
  return items.length < total ? "partial" : "whole";
};

const whole = { items: [1, 2], total: 2 };
const partial = { items: [1], total: 2 };
const corrupt = { items: [1, -2], total: 2 };

describe("a validator of replies", () => {
  it.each([
    ["partial", partial],
    ["corrupt", corrupt],
  ] as const)("asks again for a reply that is %s, where that is harmless", (flaw, reply) => {
    for (const idempotent of [true, false]) {
      const lab = new Lab();
      const guards = [retry({ attempts: 2, backoff: immediately })];
      const stack = lab.stack(guards, { idempotent, judge: validating(soundness) });
      const call = lab.start(stack, [lab.gives(reply), lab.gives(whole)]);
      if (idempotent) {
        expect(only(call, "ok").value).toBe(whole);
        continue;
      }
      const { error, class: failureClass, effect, stoppedBy } = only(call, "failed");
      expect([failureClass, effect, stoppedBy?.reason]).toEqual([flaw, "unknown", "not repeatable"]);
      expect(error).toMatchObject({ flaw, reply, message: `stock.view: the reply is ${flaw}` });
      expect(error).toBeInstanceOf(UnsoundReplyError);
    }
  });

  it("counts such a reply against the dependency", () => {
    const lab = new Lab();
    const machine = new CircuitBreaker(new BreakerPolicy({ consecutiveFailures: 2 }));
    const stack = lab.stack([breaker(machine)], { judge: validating(soundness) });
    for (const reply of [corrupt, partial]) lab.start(stack, lab.gives(reply));
    expect(machine.state.name).toBe("open");
  });

  it("leaves errors, and what another judge says, to them", () => {
    const lab = new Lab();
    const error = fault("permanent");
    const plain = lab.stack([], { judge: validating(soundness) });
    expect(only(lab.start(plain, lab.throws(error)), "failed")).toMatchObject({ error, class: "permanent" });
    const judge = validating(soundness, (result) => {
      if ("error" in result) return undefined;
      return (result.value as Page).total > 2 ? failed("too many", "permanent") : degraded(result.value);
    });
    const judged = lab.stack([], { judge });
    expect(only(lab.start(judged, lab.gives({ items: [], total: 3 })), "failed").error).toBe("too many");
    expect(only(lab.start(judged, lab.gives(whole)), "ok").degradedBy).toBe("callee");
    expect(only(lab.start(judged, lab.gives(corrupt)), "failed").class).toBe("corrupt");
    expect(only(lab.start(judged, lab.throws(error)), "failed").error).toBe(error);
  });

  it("marks what the callee itself calls less than whole", () => {
    const lab = new Lab();
    const stack = lab.stack([], { judge: validating(() => "degraded") });
    expect(only(lab.start(stack, lab.gives(partial)), "ok")).toMatchObject({
      value: partial,
      degradedBy: "callee",
    });
  });

  it("fails the call for good when it throws, or says nothing of the kind", () => {
    const bug = new Error("bug");
    const throws = (): Soundness => {
      throw bug;
    };
    for (const find of [throws, () => undefined as never, () => true as never]) {
      const lab = new Lab();
      const stack = lab.stack([retry({ backoff: immediately })], { judge: validating(find) });
      const call = lab.start(stack, lab.gives(whole));
      const { error, class: failureClass } = only(call, "failed");
      expect([failureClass, call.sent.length]).toEqual(["permanent", 1]);
      expect(error === bug || error instanceof OptionError).toBe(true);
    }
    expect(() => validating(1 as never)).toThrow(OptionError);
    expect(() => validating(soundness, "judge" as never)).toThrow(OptionError);
  });
});
