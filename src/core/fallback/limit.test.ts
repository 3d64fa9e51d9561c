import { describe, expect, it } from "vitest";
import { fault, Lab, only } from "../../../test/lib/lab.ts";
import type { Attempt } from "../attempt.ts";
import { fallback } from "./guard.ts";

describe.each([false, true])("a fallback with a limit (generators: %s)", (generators) => {
  function made(limit: number) {
    const lab = new Lab();
    const substitutes: Attempt[] = [];
    const run = (_because: unknown, attempt: Attempt): void => void substitutes.push(attempt);
    const stack = lab.stack([fallback({ run, limit, timeoutMs: 20 })], {
      generators,
      perform: (attempt, work) => (work as (attempt: Attempt) => void)(attempt),
    });
    const call = () => lab.start(stack, lab.throws(fault("transient")));
    return { lab, stack, call, substitutes };
  }

  it("lets the failure stand beyond it", () => {
    const { lab, call, substitutes } = made(2);
    const calls = [call(), call(), call()];
    expect(substitutes).toHaveLength(2);
    expect(only(calls[2] as (typeof calls)[0], "failed").class).toBe("transient");
    const refusal = { type: "attempt.refused", by: "fallback", reason: "full" };
    expect(lab.events).toContainEqual(expect.objectContaining(refusal));
    for (const each of substitutes) each.succeed("instead");
    expect(calls.slice(0, 2).map((each) => only(each, "ok").value)).toEqual(["instead", "instead"]);
    call();
    expect(substitutes).toHaveLength(3);
  });

  it("counts a substitute until it has ended, not until its time is over", () => {
    const { lab, stack, call, substitutes } = made(1);
    const late = call();
    lab.runtime.advance(20);
    expect(only(late, "failed").class).toBe("transient");
    expect(stack.abandoned).toBe(1);
    call();
    expect(substitutes).toHaveLength(1);
    substitutes[0]?.succeed("too late");
    call();
    expect(substitutes).toHaveLength(2);
  });
});

it("refuses a wrong limit by name", () => {
  for (const limit of [0, 1.5, Number.NaN, "2"])
    expect(() => new Lab().stack([fallback({ run: () => 1, limit: limit as number })])).toThrow(
      "fallback.limit",
    );
});
