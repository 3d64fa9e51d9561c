// Case 079: the limit on the wait in a queue also cuts the execution.
import { expect, it } from "vitest";
import { dependency } from "../../src/facade/index.ts";
import { scripted, virtualTime } from "../../src/node/testing/index.ts";

it("case 079: a call that waited 10 of 50 ms runs its 200 ms, and one that waits 50 is refused", async () => {
  const time = virtualTime();
  const stock = dependency(
    { name: "stock", bulkhead: { limit: 1, queue: { maxWaiting: 2, maxWaitMs: 50 } } },
    time.runtime,
  );
  const view = stock.operation("view");
  const first = view(scripted([{ value: "first", afterMs: 10 }]));
  const work = scripted([{ value: "second", afterMs: 200 }]);
  const second = view(work);
  const third = view.outcome(scripted([{ value: "third" }]));
  const answers = await time.run(() => Promise.all([first, second, third]));
  expect(answers).toMatchObject(["first", "second", { kind: "rejected", reason: "waited too long" }]);
  expect(work.attempts).toMatchObject([{ at: 10, deadline: Infinity, endedAt: 210 }]);
});
