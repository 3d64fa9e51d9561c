// Case 032: one call's exhausted attempts stop another call's retries.
import { expect, it } from "vitest";
import { immediately } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { scripted, virtualTime } from "../../src/node/testing/index.ts";
import { fault } from "../lib/lab.ts";

const options = { idempotent: true, retry: { attempts: 3, backoff: immediately } };

it("case 032: each call counts its own attempts", async () => {
  const time = virtualTime();
  const stock = dependency({ name: "stock" }, time.runtime);
  for (const operation of [stock.operation("view", options), stock.operation("other", options)]) {
    const a = scripted([{ error: fault("transient") }]);
    const b = scripted([{ error: fault("transient") }, { value: "b" }]);
    expect((await operation.outcome(a)).kind).toBe("failed");
    expect(await operation(b)).toBe("b");
    expect([a.attempts.length, b.attempts.length]).toEqual([3, 2]);
  }
});

it("case 032: only the budget is shared, by the operations of one dependency, and says that it was", async () => {
  const time = virtualTime();
  const shared = { budget: { burst: 2, ratio: 0 } };
  const stock = dependency({ name: "stock", ...shared }, time.runtime);
  const prices = dependency({ name: "prices", ...shared }, time.runtime);
  const failing = scripted([{ error: fault("transient") }]);
  await stock.operation("view", options).outcome(failing);
  const next = await stock.operation("other", options).outcome(failing);
  expect(next).toMatchObject({ kind: "failed", stoppedBy: { by: "budget", reason: "empty" } });
  expect(failing.attempts.length).toBe(3 + 1);
  const elsewhere = scripted([{ error: fault("transient") }, { value: 1 }]);
  expect(await prices.operation("view", options)(elsewhere)).toBe(1);
});
