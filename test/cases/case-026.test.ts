// Case 026: an attempt rejects because of the caller's signal, and the loop still backs off.
import { expect, it } from "vitest";
import { constant } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { scripted, virtualTime } from "../../src/node/testing/index.ts";

it("case 026: the loop ends with the signal, and the rejection is neither repeated nor slept on", async () => {
  const time = virtualTime();
  const events: string[] = [];
  time.runtime.listen(({ type }) => events.push(type));
  const view = dependency({ name: "stock" }, time.runtime).operation("view", {
    idempotent: true,
    retry: { attempts: 5, backoff: constant(10_000) },
  });
  const controller = new AbortController();
  const reason = new Error("the caller has left");
  const work = scripted([{ hangs: true }]);
  void time.sleep(1_000).then(() => controller.abort(reason));
  await expect(time.run(() => view(work, { signal: controller.signal }))).rejects.toBe(reason);
  expect([time.now(), time.runtime.pending]).toEqual([1_000, 0]);
  await time.advance(60_000);
  expect(work.attempts).toMatchObject([{ at: 0, endedAt: 1_000 }]);
  expect(events).not.toContain("retry.scheduled");
});
