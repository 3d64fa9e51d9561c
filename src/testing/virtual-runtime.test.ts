import { describe, expect, it } from "vitest";
import { Timer } from "../core/runtime.ts";
import { VirtualRuntime } from "./virtual-runtime.ts";

class Recorder extends Timer {
  readonly #fired: () => void;

  constructor(fired: () => void) {
    super();
    this.#fired = fired;
  }

  override fire(): void {
    this.#fired();
  }
}

function recording() {
  const runtime = new VirtualRuntime();
  const fired: string[] = [];
  const record = (ms: number, name: string) =>
    runtime.after(ms, () => fired.push(`${name}@${runtime.now()}`));
  return { runtime, fired, record };
}

describe("VirtualRuntime", () => {
  it("fires by due time, and at one time in the order of arming", () => {
    const { runtime, fired, record } = recording();
    record(20, "c");
    record(10, "a");
    record(20, "d");
    record(10, "b");
    runtime.advance(9);
    expect(fired).toEqual([]);
    runtime.advance(11);
    expect(fired).toEqual(["a@10", "b@10", "c@20", "d@20"]);
    expect([runtime.now(), runtime.pending, runtime.fired, runtime.nextAt]).toEqual([20, 0, 4, Infinity]);
  });

  it("forgets what is cancelled, and moves what is armed again to the end of its time", () => {
    const { runtime, fired, record } = recording();
    const [gone] = [record(10, "gone"), record(10, "kept")];
    const moved = new Recorder(() => fired.push(`moved@${runtime.now()}`));
    runtime.arm(moved, 5);
    runtime.arm(moved, 10);
    record(10, "last");
    runtime.cancel(gone as Timer);
    runtime.cancel(gone as Timer);
    expect(runtime.pending).toBe(3);
    runtime.advance(10);
    expect(fired).toEqual(["kept@10", "moved@10", "last@10"]);
  });

  it("fires in the same advance what is armed on the way, even at the same time", () => {
    const { runtime, fired, record } = recording();
    runtime.after(10, () => {
      record(0, "now");
      record(5, "later");
      record(50, "much later");
    });
    runtime.advance(20);
    expect(fired).toEqual(["now@10", "later@15"]);
    expect(runtime.now()).toBe(20);
  });

  it("steps from timer to timer", () => {
    const { runtime, fired, record } = recording();
    record(10, "a");
    record(10, "b");
    expect([runtime.step(), runtime.now(), fired.length]).toEqual([true, 10, 1]);
    expect([runtime.step(), runtime.step()]).toEqual([true, false]);
  });

  it("stops a world that never comes to rest, and names its seed", () => {
    const runtime = new VirtualRuntime({ seed: 77 });
    const again = new Recorder(() => runtime.arm(again, runtime.now() + 1));
    runtime.arm(again, 1);
    expect(() => runtime.runToIdle(100)).toThrow(/seed 77/);
  });

  it("throws what a listener threw, once everything due has run", () => {
    const { runtime, fired, record } = recording();
    runtime.after(5, () => {
      throw new Error("a listener's");
    });
    record(10, "after");
    expect(() => runtime.advance(10)).toThrow("a listener's");
    expect(fired).toEqual(["after@10"]);
  });

  it("warns of a test that armed timers and never moved the clock", () => {
    const { runtime, record } = recording();
    expect(runtime.warning).toBeNull();
    record(5, "a");
    expect(runtime.warning).toMatch(/advance/);
    runtime.advance(1);
    expect(runtime.warning).toBeNull();
  });

  it("starts where it is told to, and draws by its seed", () => {
    expect(new VirtualRuntime({ startAtMs: 500 }).now()).toBe(500);
    const draw = (seed: number): number => new VirtualRuntime({ seed }).random.next();
    expect(draw(1)).toBe(draw(1));
    expect(draw(1)).not.toBe(draw(2));
  });

  it.each([
    ["VirtualRuntime.seed", (wrong: never) => new VirtualRuntime({ seed: wrong })],
    ["VirtualRuntime.startAtMs", (wrong: never) => new VirtualRuntime({ startAtMs: wrong })],
    ["advance.ms", (wrong: never) => new VirtualRuntime().advance(wrong)],
    ["advanceTo.at", (wrong: never) => new VirtualRuntime().advanceTo(wrong)],
  ])("refuses a wrong %s by name", (field, use) => {
    for (const wrong of [Number.NaN, Infinity, -1, "1", null])
      expect(() => use(wrong as never)).toThrow(`${field} is`);
  });

  it("refuses an option that it does not know", () => {
    expect(() => new VirtualRuntime({ sed: 7 } as never)).toThrow("VirtualRuntime.sed is 7");
  });
});
