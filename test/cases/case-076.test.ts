// Case 076: the default queue has no bound. (On ioredis: src/node/redis.)
import { expect, it } from "vitest";
import { runSource } from "../../scripts/lib/bundle.mjs";
import { AdmissionQueue, OptionError } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { virtualTime } from "../../src/node/testing/index.ts";

it("case 076: of 100,000 calls to a dependency that hangs as many as the cap wait, the rest are refused at once", {
  timeout: 120_000,
}, async () => {
  const { code, stdout, stderr } = await runSource(
    `
    import { dependency } from "~/src/index.ts";
    import { NodeRuntime } from "~/src/node/runtime.ts";
    const runtime = new NodeRuntime();
    const stock = dependency({ name: "stock", bulkhead: { limit: 10 } }, runtime);
    const view = stock.operation("view");
    let [refused, sent] = [0, 0];
    const heap = () => (gc(), process.memoryUsage().heapUsed);
    const before = heap();
    for (let i = 0; i < 100_000; i++) {
      view(() => { sent++; return new Promise(() => {}); }).catch((error) => { if (error.by === "bulkhead") refused++; });
      if (i % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setImmediate(resolve));
    console.log(sent, refused, stock.bulkhead.waiting, runtime.pending, heap() - before < 3_000_000);
  `,
    ["--expose-gc"],
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "10 99990 0 0 true\n", stderr: "" });
});

it("case 076: who asks for a queue gets a bound on the wait, too; no bound is typed out", async () => {
  const time = virtualTime();
  const stock = dependency({ name: "stock", bulkhead: { limit: 1, queue: { maxWaiting: 5 } } }, time.runtime);
  const view = stock.operation("view");
  const calls = Array.from({ length: 10 }, () => view.outcome(() => new Promise<never>(() => {})));
  await time.settle();
  expect([stock.bulkhead?.gate.held, stock.bulkhead?.waiting]).toEqual([1, 5]);
  await time.advance(1_000);
  expect(stock.bulkhead?.waiting).toBe(0);
  const reasons = (await Promise.all(calls.slice(1))).map(
    (outcome) => outcome.kind === "rejected" && outcome.reason,
  );
  expect(reasons).toEqual([...new Array(5).fill("waited too long"), ...new Array(4).fill("queue full")]);
  expect(new AdmissionQueue({ maxWaiting: Infinity, maxWaitMs: Infinity }).maxWaiting).toBe(Infinity);
  for (const maxWaiting of [null, "Infinity", -1, NaN])
    expect(() => new AdmissionQueue({ maxWaiting } as never)).toThrow(OptionError);
});
