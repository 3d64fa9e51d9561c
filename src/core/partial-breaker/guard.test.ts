import { describe, expect, it } from "vitest";
import { fault, Lab, type Script } from "../../../test/lib/lab.ts";
import { dependency } from "../../facade/dependency.ts";
import { VirtualRuntime } from "../../testing/index.ts";
import { bulkhead } from "../bulkhead/guard.ts";
import { partialBreaker } from "./guard.ts";

/** 100 calls a second for some seconds; how many were sent, and how many refused by the breaker. */
function second(lab: Lab, stack: ReturnType<Lab["stack"]>, seconds: number, work: (call: number) => Script) {
  let [sent, refused] = [0, 0];
  for (let call = 0; call < 100 * seconds; call++) {
    const started = lab.start(stack, work(call));
    lab.runtime.advance(10);
    sent += started.sent.length;
    const [exit] = started.answers;
    if (exit?.kind === "rejected" && exit.by === "partialBreaker") refused++;
  }
  return { sent, refused };
}

describe("a partial breaker in a stack", () => {
  it("refuses as much as the failures ask for, and comes back by itself", () => {
    const lab = new Lab();
    const stack = lab.stack([partialBreaker()]);
    const third = (call: number): Script => (call % 3 === 0 ? lab.throws(fault("transient")) : lab.gives(1));
    expect(second(lab, stack, 60, () => lab.gives(1)).refused).toBe(0);
    second(lab, stack, 30, third);
    const part = second(lab, stack, 60, third).refused / 6_000;
    expect(part).toBeGreaterThan(0.35);
    expect(part).toBeLessThan(0.6);
    second(lab, stack, 30, () => lab.throws(fault("transient")));
    expect(second(lab, stack, 60, () => lab.throws(fault("transient"))).sent).toBeLessThan(600);
    second(lab, stack, 60, () => lab.gives(1));
    expect(second(lab, stack, 10, () => lab.gives(1)).refused).toBe(0);
  });

  it("takes a refusal by a guard within, and a caller who left, for no evidence", () => {
    const lab = new Lab();
    const stack = lab.stack([partialBreaker(), bulkhead({ limit: 1 })]);
    const held = lab.start(stack, lab.hangs);
    for (let i = 0; i < 50; i++) lab.start(stack, lab.gives(1));
    held.process.cancel("left");
    lab.runtime.advance(5_000);
    expect(stack.refusalNow()).toBeNull();
    expect(stack.leaf.run.mayRefuse).toBe(true); // the place of the work that goes on
    held.sent[0]?.succeed(0);
    expect(stack.leaf.run.mayRefuse).toBe(false);
  });

  it("stands in place of a breaker, not beside it", () => {
    const stock = dependency({ name: "stock" }, new VirtualRuntime());
    expect(() => stock.operation("view", { breaker: {}, partialBreaker: {} })).toThrow(
      "stock.view.partialBreaker is an object; allowed: nothing beside a breaker",
    );
    expect(() => stock.operation("view", { partialBreaker: { rise: 2 } })).toThrow(
      "stock.view.partialBreaker.rise",
    );
  });
});
