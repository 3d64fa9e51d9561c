// Case 022: Retry-After as a date, a past date or rubbish gave NaN, and an instant retry.
import { expect, it } from "vitest";
import { serve } from "../../../test/lib/http.ts";
import { dependency, type PlimsollEvent } from "../../index.node.ts";
import { NodeRuntime } from "../runtime.ts";
import { fetch } from "./fetch.ts";

const BACKOFF_MS = 30;

/** The wait after a 429 that says this, as it was decided. */
async function waitAfter(...lines: string[]): Promise<{ waitMs: number; took: number }> {
  const answeredAt: number[] = [];
  const { url } = await serve((_, response) => {
    answeredAt.push(performance.now());
    if (answeredAt.length > 1) response.end("ok");
    else
      response
        .writeHead(
          429,
          lines.flatMap((line) => ["Retry-After", line]),
        )
        .end();
  });
  const runtime = new NodeRuntime();
  const waits: number[] = [];
  runtime.sink = (event: PlimsollEvent) => {
    if (event.type === "retry.scheduled") waits.push(event.delayMs);
  };
  const view = dependency({ name: "stock" }, runtime).operation("view", {
    idempotent: true,
    retry: { attempts: 2, backoff: { kind: "constant", delayMs: BACKOFF_MS } },
  });
  await view((attempt) => fetch(url, attempt).then((response) => response.text()));
  expect(waits).toHaveLength(1);
  return { waitMs: waits[0]!, took: answeredAt[1]! - answeredAt[0]! };
}

it.each(["soon", "-3", "1.5", "", "Infinity", "NaN", "2 sec"])("%j: the ordinary backoff", async (value) => {
  const { waitMs, took } = await waitAfter(value);
  expect(waitMs).toBe(BACKOFF_MS);
  expect(took).toBeGreaterThanOrEqual(BACKOFF_MS - 1);
});

it("a date in the past: the ordinary backoff, not an instant retry", async () => {
  const { took } = await waitAfter(new Date(Date.now() - 60_000).toUTCString());
  expect(took).toBeGreaterThanOrEqual(BACKOFF_MS - 1);
});

it("two header lines: as if there were none", async () => {
  expect((await waitAfter("1", "2")).waitMs).toBe(BACKOFF_MS);
});

it("a date ahead: until then, and the backoff on top", async () => {
  const { waitMs, took } = await waitAfter(new Date(Date.now() + 2_000).toUTCString());
  expect(waitMs).toBeGreaterThanOrEqual(1_000);
  expect(waitMs).toBeLessThanOrEqual(3_000 + BACKOFF_MS);
  expect(took).toBeGreaterThanOrEqual(waitMs - 1);
});
