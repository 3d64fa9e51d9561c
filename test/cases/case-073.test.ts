// Case 073: an expired job leaves the running counter up.
import { expect, it } from "vitest";
import { dependency } from "../../src/facade/index.ts";
import { scripted, virtualTime } from "../../src/node/testing/index.ts";
import { keepBooks } from "../../src/testing/index.ts";

it("case 073: jobs that outlive their limit keep their places until they end, are counted, and block nobody for good", async () => {
  const time = virtualTime();
  const stock = dependency(
    { name: "stock", bulkhead: { limit: 4, queue: { maxWaiting: 6, maxWaitMs: 10_000 } } },
    time.runtime,
  );
  const books = keepBooks(time.runtime, [stock]);
  const view = stock.operation("view", { attemptTimeoutMs: 50 });
  const deaf = scripted([{ value: 1, afterMs: 200, ignoresSignal: true }]);
  const jobs = Promise.all(Array.from({ length: 10 }, () => view.outcome(deaf)));
  const seen = async (): Promise<unknown> => {
    books.check();
    return [stock.bulkhead?.gate.held, view.abandoned, stock.bulkhead?.waiting];
  };
  await time.advance(100);
  expect(await seen()).toEqual([4, 4, 6]); // given up at 50, and still running
  await time.advance(200);
  expect(await seen()).toEqual([4, 4, 2]);
  for (const outcome of await time.run(() => jobs)) expect(outcome).toMatchObject({ ended: "timeout" });
  await time.advance(1_000);
  books.checkAtRest();
  expect([books.of("stock").mostAtOnce, view.abandoned]).toEqual([4, 0]);
  expect(await time.run(() => view(scripted([{ value: "later", afterMs: 5 }])))).toBe("later");
});
