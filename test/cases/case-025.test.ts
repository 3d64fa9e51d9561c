// Case 025: an abort during back-off is noticed only after the wait. (Over HTTP: src/node/fetch.)
import { expect, it } from "vitest";
import { constant } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { VirtualRuntime } from "../../src/testing/index.ts";
import { fault } from "../lib/lab.ts";

it("case 025: a caller who leaves during a backoff of 3 s is answered in that tick, and nothing is left", async () => {
  const runtime = new VirtualRuntime();
  const view = dependency({ name: "stock" }, runtime).operation("view", {
    idempotent: true,
    retry: { backoff: constant(0) },
  });
  const controller = new AbortController();
  let sent = 0;
  const call = view(
    () => {
      sent++;
      throw fault("throttling", { pushback: 3000 });
    },
    { signal: controller.signal },
  );
  expect(runtime.nextAt).toBe(3000);
  runtime.advance(100);
  const reason = new Error("the caller has left");
  controller.abort(reason);
  expect(runtime.pending).toBe(0);
  await expect(call).rejects.toBe(reason);
  runtime.advance(10_000);
  expect([sent, runtime.now()]).toEqual([1, 10_100]);
});
