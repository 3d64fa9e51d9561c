// Case 023: `Retry-After: 0` was taken for no header.
import { expect, it } from "vitest";
import { serve } from "../../../test/lib/http.ts";
import { dependency } from "../../index.node.ts";
import { NodeRuntime } from "../runtime.ts";
import { fetch } from "./fetch.ts";
import type { HttpError } from "./http-error.ts";

const BACKOFF_MS = 50;

/** The wait after a 429 with these headers, the server's word as it was understood, and what the retry cost. */
async function afterOne(headers: Record<string, string>) {
  let requests = 0;
  const { url } = await serve((_, response) => {
    if (++requests > 1) response.end("ok");
    else response.writeHead(429, headers).end();
  });
  const runtime = new NodeRuntime();
  const stock = dependency({ name: "stock" }, runtime);
  const waits: number[] = [];
  const words: unknown[] = [];
  runtime.listen((event) => void (event.type === "retry.scheduled" && waits.push(event.delayMs)));
  const view = stock.operation("view", {
    idempotent: true,
    retry: { attempts: 2, backoff: { kind: "constant", delayMs: BACKOFF_MS } },
  });
  await view((attempt) =>
    fetch(url, attempt)
      .catch((error: HttpError) => {
        words.push(error.failure.pushback);
        throw error;
      })
      .then((response) => response.text()),
  );
  return { waits, words, repeats: stock.budget?.repeats };
}

it("case 023: no header: the local schedule", async () => {
  expect(await afterOne({})).toEqual({ words: [undefined], waits: [BACKOFF_MS], repeats: 1 });
});

// The local schedule stays: its jitter is what keeps all who were told 0 from coming back together.
it("case 023: 0: no wait of the server's; the retry is charged and counted as any other", async () => {
  expect(await afterOne({ "Retry-After": "0" })).toEqual({ words: [0], waits: [BACKOFF_MS], repeats: 1 });
});

it("case 023: 0 is the server's word, and stands before what its quota says; no header does not", async () => {
  const quota = { "RateLimit-Reset": "1", "RateLimit-Remaining": "0" };
  expect((await afterOne({ ...quota, "Retry-After": "0" })).waits).toEqual([BACKOFF_MS]);
  expect((await afterOne(quota)).waits).toEqual([1_000 + BACKOFF_MS]);
});
