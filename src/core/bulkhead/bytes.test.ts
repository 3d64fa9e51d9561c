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
