import { describe, expect, it } from "vitest";
import { fault, Lab, only } from "../../../test/lib/lab.ts";
import { bulkhead } from "../bulkhead/guard.ts";
import { adaptiveThrottle } from "./guard.ts";

/** Calls one after the other, each answered by `ends`; how many were sent, and how many refused here. */
function calls(
  lab: Lab,
  stack: ReturnType<Lab["stack"]>,
  count: number,
  ends: () => Parameters<Lab["start"]>[1],
) {
  let [sent, refused] = [0, 0];
  for (let i = 0; i < count; i++) {
    const call = lab.start(stack, ends());
    lab.runtime.runToIdle();
    sent += call.sent.length;
    const [exit] = call.answers;
    if (exit?.kind === "rejected" && exit.by === "adaptiveThrottle") refused++;
  }
  return { sent, refused };
}

describe("the adaptive throttle", () => {
  it("lets everything through while the dependency accepts", () => {
    const lab = new Lab();
    const stack = lab.stack([adaptiveThrottle()]);
    expect(calls(lab, stack, 200, () => lab.gives(1, 1))).toEqual({ sent: 200, refused: 0 });
  });

  it("refuses most of what a dependency would refuse, and comes back by the rest", () => {
    const lab = new Lab();
    const stack = lab.stack([adaptiveThrottle({ windowMs: 10_000 })]);
    const down = calls(lab, stack, 1_000, () => lab.throws(fault("throttling"), 1));
    expect(down.refused).toBeGreaterThan(850);
    expect(down.sent).toBeGreaterThan(20);
    lab.runtime.advance(11_000);
    const up = calls(lab, stack, 200, () => lab.gives(1, 1));
    expect(up).toEqual({ sent: 200, refused: 0 });
  });

  it("does not mind failures unless it is told to", () => {
    const lab = new Lab();
    const failing = () => lab.throws(fault("transient"), 1);
    expect(calls(lab, lab.stack([adaptiveThrottle()]), 100, failing).refused).toBe(0);
    expect(
      calls(lab, lab.stack([adaptiveThrottle({ rejects: "failures" })]), 100, failing).refused,
    ).toBeGreaterThan(60);
  });

  it("is not told of what a guard behind it refuses", () => {
    const lab = new Lab();
    const stack = lab.stack([adaptiveThrottle(), bulkhead({ limit: 1 })]);
    lab.start(stack, lab.hangs);
    const exits = Array.from({ length: 50 }, () => lab.start(stack, lab.gives(1)).answers[0]);
    expect(exits.every((exit) => exit?.kind === "rejected" && exit.by === "bulkhead")).toBe(true);
  });

  it("gives one log for one seed", () => {
    const log = (): string => {
      const lab = new Lab(5);
      const stack = lab.stack([adaptiveThrottle()]);
      calls(lab, stack, 100, () => lab.throws(fault("throttling"), 1));
      return JSON.stringify(lab.events);
    };
    expect(log()).toBe(log());
  });

  it("names itself in a refusal", () => {
    const lab = new Lab();
    const stack = lab.stack([adaptiveThrottle({ maxRefused: 0.99 })]);
    calls(lab, stack, 300, () => lab.throws(fault("throttling"), 1));
    const refused = Array.from({ length: 20 }, () => lab.start(stack, lab.throws(fault("throttling"))));
    const one = refused.find((call) => call.answers[0]?.kind === "rejected");
    if (one === undefined) throw new Error("nothing was refused");
    expect(only(one, "rejected")).toMatchObject({
      by: "adaptiveThrottle",
      reason: "the dependency is refusing",
    });
  });
});
