import { expect, it } from "vitest";
import { OptionError, stableOffset } from "../core/index.ts";
import { VirtualRuntime } from "../testing/index.ts";
import { every } from "./every.ts";
import { plugHost } from "./host.ts";

/** Lets promises settle between two instants of virtual time. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await Promise.resolve();
};

it("runs once in each period, at the offset of its id", async () => {
  const runtime = new VirtualRuntime();
  const at: number[] = [];
  const work = every({ periodMs: 1_000, id: "agent-7" }, () => at.push(runtime.now()), runtime);
  for (let i = 0; i < 3_000; i += 10) {
    runtime.advance(10);
    await settle();
  }
  const offset = stableOffset("agent-7", 1_000);
  expect(work.offsetMs).toBe(offset);
  expect(at).toEqual([offset, offset + 1_000, offset + 2_000]);
  work.stop();
  runtime.advance(5_000);
  expect(at.length).toBe(3);
  expect(runtime.pending).toBe(0);
});

it("leaves a run out while the one before is going, and counts it", async () => {
  const runtime = new VirtualRuntime();
  let end = (): void => {};
  const work = every(
    { periodMs: 100, id: "a" },
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    runtime,
  );
  runtime.advance(300);
  expect([work.runs, work.leftOut]).toEqual([1, 2]);
  end();
  await settle();
  runtime.advance(100);
  expect([work.runs, work.leftOut]).toEqual([2, 2]);
  work.stop();
});

it("goes on after a run that threw, and reports what it threw", async () => {
  const runtime = new VirtualRuntime();
  const error = new Error("no");
  const work = every(
    { periodMs: 100, id: "a" },
    () => {
      throw error;
    },
    runtime,
  );
  runtime.advance(100);
  await settle();
  expect(() => runtime.advance(100)).toThrow(error);
  await settle();
  expect(() => runtime.advance(100)).toThrow(error);
  expect(work.runs).toBe(3);
  work.stop();
});

it("fires the signal of a run that is going when it is stopped", () => {
  const runtime = new VirtualRuntime();
  const signals: AbortSignal[] = [];
  const work = every(
    { periodMs: 100, id: "a" },
    (signal) => {
      signals.push(signal);
      return new Promise(() => {});
    },
    runtime,
  );
  runtime.advance(200);
  work.stop();
  expect(signals.map((signal) => signal.aborted)).toEqual([true]);
});

it("refuses wrong options by name", () => {
  const runtime = new VirtualRuntime();
  const wrong = (options: object, field: string) => {
    expect(() => every(options as never, () => {}, runtime), field).toThrow(OptionError);
    expect(() => every(options as never, () => {}, runtime), field).toThrow(field);
  };
  wrong({ periodMs: 0, id: "a" }, "every.periodMs");
  wrong({ periodMs: 10, id: "" }, "every.id");
  wrong({ periodMs: 10, id: "a", jitter: 1 }, "every.jitter");
  expect(() => every({ periodMs: 10, id: "a" }, 3 as never, runtime)).toThrow("work");
});

it("keeps its second of the minute when the process starts again at another time", () => {
  const offset = stableOffset("host-17", 60_000);
  for (const startedAtMs of [1_795_000_000_123, 1_795_000_017_999]) {
    const runtime = new VirtualRuntime();
    plugHost({ runtime, ambient: () => undefined, startedAtMs });
    const at: number[] = [];
    const work = every(
      { periodMs: 60_000, id: "host-17" },
      () => void at.push((startedAtMs + runtime.now()) % 60_000),
    );
    for (let second = 0; second < 120; second++) runtime.advance(1_000);
    expect([...new Set(at)]).toEqual([offset]);
    work.stop();
  }
});
