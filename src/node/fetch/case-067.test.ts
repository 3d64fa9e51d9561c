// Case 067: the deadline was not enforced before the request was on the wire.
import { describe, expect, it } from "vitest";
import { serveTcp } from "../../../test/lib/http.ts";
import { dependency } from "../../index.node.ts";
import { NodeRuntime } from "../runtime.ts";
import { fetch } from "./fetch.ts";
import type { FetchInit } from "./request.ts";

const LIMIT_MS = 200;
const CALLS = 10;

/** Ten calls at once that get no answer: how each ended, how long all took, and what is left of them. */
async function ten(url: string, init: FetchInit = {}) {
  const runtime = new NodeRuntime();
  const stock = dependency({ name: "stock", bulkhead: { limit: CALLS } }, runtime);
  const save = stock.operation("save", { attemptTimeoutMs: LIMIT_MS });
  const start = performance.now();
  const outcomes = await Promise.all(
    Array.from({ length: CALLS }, () =>
      save.outcome((attempt) => fetch(url, attempt, init).then((response) => response.text())),
    ),
  );
  const tookMs = performance.now() - start;
  await expect.poll(() => save.abandoned).toBe(0);
  return { outcomes, tookMs, held: stock.bulkhead!.gate.held, timers: runtime.pending };
}

function allEnded({ outcomes, tookMs, held, timers }: Awaited<ReturnType<typeof ten>>): void {
  for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: "failed", ended: "timeout" });
  expect(tookMs).toBeGreaterThanOrEqual(LIMIT_MS);
  expect(tookMs).toBeLessThan(5_000); // undici's own connect timeout is 10 s
  expect([held, timers]).toEqual([0, 0]);
}

describe("all calls end at their limit, and leave nothing behind", () => {
  it("where no connection comes about", async () => {
    const { url } = await serveTcp((socket) => void socket.pause()); // a TLS handshake that nobody answers
    allEnded(await ten(url.replace("http:", "https:")));
  });

  it("where the server accepts and says nothing", async () => {
    const { url } = await serveTcp();
    allEnded(await ten(url));
  });

  it("where the server stops reading", async () => {
    const { url } = await serveTcp((socket) => void socket.pause());
    allEnded(await ten(url, { method: "PUT", body: Buffer.alloc(8_000_000) }));
  });
});
