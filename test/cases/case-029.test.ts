// Case 029: back-off is not charged to the total time.
import { expect, it } from "vitest";
import { exponential } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { scripted, virtualTime } from "../../src/node/testing/index.ts";
import { fault } from "../lib/lab.ts";

it("case 029: a wait that would pass the deadline is not begun, and the call says so at once", async () => {
  const time = virtualTime();
  const view = dependency({ name: "stock" }, time.runtime).operation("view", {
    idempotent: true,
    totalTimeoutMs: 1_000,
    retry: { attempts: 11, backoff: exponential({ baseMs: 100, capMs: 100_000 }) },
  });
  const work = scripted([{ error: fault("throttling") }]);
  const outcome = await time.run(() => view.outcome(work));
  // Waits of 100, 200 and 400 ms; the next one, 800 ms, would end at 1,500.
  expect(work.attempts.map(({ at }) => at)).toEqual([0, 100, 300, 700]);
  expect(outcome).toMatchObject({
    kind: "failed",
    class: "throttling",
    stoppedBy: { by: "deadline", reason: "no time for another attempt" },
  });
  expect([time.now(), time.runtime.pending]).toEqual([700, 0]);
});
