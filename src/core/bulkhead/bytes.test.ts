import { expect, it } from "vitest";
import { dependency } from "../../facade/dependency.ts";
import { VirtualRuntime } from "../../testing/virtual-runtime.ts";

it("bounds the bytes of those that wait, as calls announce them", async () => {
  const queue = { maxWaiting: 10, maxBytes: 100 };
  const stock = dependency({ name: "stock", bulkhead: { limit: 1, queue } }, new VirtualRuntime());
  const call = stock.operation("view");
  let end = (): void => {};
  const running = call(() => new Promise<void>((resolve) => (end = resolve)));
  const waiting = call(() => "waited", { bytes: 60 });
  expect(stock.bulkhead?.waitingBytes).toBe(60);
  expect(await call.outcome(() => 1, { bytes: 41 })).toMatchObject({ by: "bulkhead", reason: "queue full" });
  const small = call(() => "small", { bytes: 40 });
  expect(stock.bulkhead?.waitingBytes).toBe(100);
  end();
  expect(await Promise.all([running, waiting, small])).toEqual([undefined, "waited", "small"]);
  expect(stock.bulkhead).toMatchObject({ waiting: 0, waitingBytes: 0 });
});

it("has room for the largest call again when all are done, whatever fractions they announced", async () => {
  const stock = dependency({ name: "stock", bulkhead: { limit: 50, maxBytes: 100 } }, new VirtualRuntime());
  const call = stock.operation("view");
  const running: { end: () => void; done: Promise<void> }[] = [];
  for (let n = 1; n <= 500; n++) {
    let end = (): void => {};
    const work = new Promise<void>((resolve) => {
      end = resolve;
    });
    const done = call.outcome(() => work, { bytes: ((n * 7_919) % 1_000) / 30 }).then(() => {});
    running.push({ end, done });
    if (running.length < 4) continue;
    const first = running.shift();
    first?.end();
    await first?.done;
  }
  for (const { end, done } of running) {
    end();
    await done;
  }
  expect(stock.bulkhead?.inFlightBytes).toBe(0);
  expect(await call(() => "all of it", { bytes: 100 })).toBe("all of it");
});
