// Case 055: abort listeners pile up on a long-lived signal.
import { getEventListeners } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { constant } from "../core/index.ts";
import { NodeRuntime } from "../node/runtime.ts";
import { dependency } from "./index.ts";

const warnings: string[] = [];
const hear = (warning: Error): void => void warnings.push(warning.name);
beforeAll(() => void process.on("warning", hear));
afterAll(() => void process.off("warning", hear));

const { signal } = new AbortController();
const view = dependency({ name: "stock", budget: "none" }, new NodeRuntime()).operation("view", {
  idempotent: true,
  attemptTimeoutMs: 10_000,
  retry: { attempts: 3, backoff: constant(1) },
});

/** Fails twice, then succeeds. */
function call(): Promise<string> {
  let attempts = 0;
  return view(
    async (attempt) => {
      void attempt.signal;
      if (++attempts < 3) throw new Error("not yet");
      return "done";
    },
    { signal },
  );
}

it("case 055: 1,000 calls on one signal, and 50 at once, leave no listener and no warning", async () => {
  let most = 0;
  for (let i = 0; i < 200; i++) {
    const calls = Array.from({ length: 5 }, call);
    most = Math.max(most, getEventListeners(signal, "abort").length);
    await Promise.all(calls);
  }
  const together = Array.from({ length: 50 }, call);
  most = Math.max(most, getEventListeners(signal, "abort").length);
  expect(await Promise.all(together)).toEqual(new Array(50).fill("done"));
  await new Promise((resolve) => setImmediate(resolve));
  expect([most, getEventListeners(signal, "abort").length, warnings]).toEqual([1, 0, []]);
});
