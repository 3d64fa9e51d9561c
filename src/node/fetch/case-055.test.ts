// Case 055: abort listeners piled up on a long-lived signal.
import { getEventListeners } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { serve } from "../../../test/lib/http.ts";
import { constant, dependency } from "../../index.node.ts";
import { fetch } from "./fetch.ts";

it("1,000 calls with retries, 50 at once, under one signal of the process: no listener left, no warning", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const { url, seen } = await serve((_, response) => {
    response.writeHead(seen.length % 3 === 0 ? 200 : 500).end("ok");
  });
  const { signal } = new AbortController();
  const view = dependency({ name: "stock", budget: "none" }).operation("view", {
    idempotent: true,
    attemptTimeoutMs: 20_000,
    retry: { attempts: 50, backoff: constant(1) },
  });
  let most = 0;
  const call = () =>
    view(
      (attempt) => {
        most = Math.max(most, getEventListeners(signal, "abort").length);
        return fetch(url, attempt).then((response) => response.text());
      },
      { signal },
    );
  for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 50 }, call));
  await new Promise((done) => void setImmediate(done));
  expect(seen.length).toBeGreaterThanOrEqual(1_000);
  expect(most).toBe(1);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  expect(warnings).toEqual([]);
}, 30_000);
