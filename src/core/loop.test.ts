import { describe, expect, it } from "vitest";
import { VirtualRuntime } from "../testing/virtual-runtime.ts";
import type { Loop, Task } from "./loop.ts";

const task = (run: () => void): Task => ({ context: null, run });

/** Runs `fill` in a stretch of its own. */
function stretch(loop: Loop, fill: () => void): void {
  const outermost = loop.enter();
  fill();
  loop.leave(outermost);
}

describe("Loop", () => {
  it("runs what was pushed, in order, and never one inside another", () => {
    const { loop } = new VirtualRuntime();
    const order: string[] = [];
    let depth = 0;
    const named = (name: string, more: () => void = () => {}): Task =>
      task(() => {
        expect(++depth).toBe(1);
        order.push(name);
        more();
        depth--;
      });
    stretch(loop, () => {
      loop.push(named("a", () => stretch(loop, () => loop.push(named("c")))));
      loop.push(named("b"));
      expect([order.length, loop.idle, loop.running]).toEqual([0, false, true]);
    });
    expect(order).toEqual(["a", "b", "c"]);
    expect([loop.idle, loop.running]).toEqual([true, false]);
  });

  it("goes on after one that throws, and tells the runtime", () => {
    const runtime = new VirtualRuntime();
    const order: string[] = [];
    stretch(runtime.loop, () => {
      runtime.loop.push(
        task(() => {
          throw new Error("a listener's");
        }),
      );
      runtime.loop.push(task(() => order.push("after")));
    });
    expect(order).toEqual(["after"]);
    expect(() => runtime.advance(0)).toThrow("a listener's");
    runtime.advance(0);
  });

  it("delivers at once when it is idle, else in turn", () => {
    const { loop } = new VirtualRuntime();
    const heard: number[] = [];
    const hear = (value: number): void => void heard.push(value);
    loop.deliver(hear, 1);
    expect(heard).toEqual([1]);
    stretch(loop, () => {
      loop.deliver(hear, 2);
      expect(heard).toEqual([1]);
    });
    loop.deliver<number>(null, 3);
    expect(heard).toEqual([1, 2]);
  });

  it("runs a task in its context", () => {
    const { loop } = new VirtualRuntime();
    const order: string[] = [];
    const context = {
      runInAsyncScope<A>(fn: (argument: A) => void, _this: unknown, argument: A): void {
        order.push("in");
        fn(argument);
        order.push("out");
      },
    };
    stretch(loop, () => loop.push({ context, run: () => order.push("run") }));
    expect(order).toEqual(["in", "run", "out"]);
  });

  it("runs 200,000 tasks, pushed together or one by one, on one stack frame and in order", () => {
    const { loop } = new VirtualRuntime();
    const count = 200_000;
    let together = 0;
    stretch(loop, () => {
      for (let i = 0; i < count; i++)
        loop.push(
          task(() => {
            if (together++ !== i) throw new Error("out of order");
          }),
        );
    });
    let chained = 0;
    const again: Task = task(() => {
      if (++chained < count) loop.push(again);
    });
    stretch(loop, () => loop.push(again));
    expect([together, chained, loop.idle]).toEqual([count, count, true]);
  });
});
