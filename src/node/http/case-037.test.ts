// Case 037: nested layers of retries multiply.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { serve } from "../../../test/lib/http.ts";
import { dependency } from "../../index.node.ts";
import { fetch, HttpError } from "../fetch/index.ts";
import { NodeRuntime } from "../runtime.ts";
import { guardedHandler } from "./handler.ts";

const retry = { attempts: 3, backoff: { kind: "constant", delayMs: 1 } } as const;

/** A guarded call to the next hop, tried three times. */
function caller(url: string): () => Promise<string> {
  const view = dependency({ name: "next", budget: "none" }, new NodeRuntime()).operation("view", {
    idempotent: true,
    retry,
  });
  return () => view((attempt) => fetch(url, attempt).then((response) => response.text()));
}

/** A service that asks the next one; `guarded` says whether it answers for itself, or hands the status on. */
async function hop(next: string, guarded: boolean): Promise<string> {
  const ask = caller(next);
  const server = createServer(
    guarded
      ? guardedHandler({ onError: () => {} }, async (_, response) => void response.end(await ask()))
      : (_, response) =>
          void ask().then(
            (text) => response.end(text),
            ({ status }: HttpError) => response.writeHead(status).end(),
          ),
  );
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Three layers of three attempts above a leaf that is always busy: what the leaf sees of one call. */
async function leafCalls(guarded: boolean): Promise<number> {
  const leaf = await serve((_, response) => void response.writeHead(503).end());
  const middle = await hop(leaf.url, guarded);
  const outer = caller(await hop(middle, guarded));
  await expect(outer()).rejects.toThrow(HttpError);
  return leaf.seen.length;
}

it("case 037: over three hops the lowest layer retries, and those above are told not to: 3 calls", async () => {
  expect(await leafCalls(true)).toBe(3);
});

it("case 037: where a hop hands the bare status on, each layer retries: 27 calls", async () => {
  expect(await leafCalls(false)).toBe(27);
});
