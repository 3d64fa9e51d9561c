// Case 137: the buffer for a retry grows for ever.
import { expect, it } from "vitest";
import { runSource } from "../../../scripts/lib/bundle.mjs";

// Node's own fetch keeps a copy of a streamed body for a redirect, so what a bare call holds is taken off.
it("case 137: a stream of 1,000,000 messages is not kept for a retry, and cancelled calls leave nothing", {
  timeout: 120_000,
}, async () => {
  const { code, stdout, stderr } = await runSource(
    `
    import { createServer } from "node:http";
    import { dependency } from "~/src/index.node.ts";
    import { fetch } from "~/src/node/fetch/index.ts";
    let [requests, bytes] = [0, 0];
    const server = createServer(async (request, response) => {
      requests++;
      for await (const part of request) bytes += part.length;
      response.writeHead(503).end();
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = "http://127.0.0.1:" + server.address().port + "/";
    const save = dependency({ name: "stock", budget: "none" }).operation("save", {
      idempotent: true, retry: { attempts: 3, backoff: { kind: "constant", delayMs: 1 } } });
    const used = () => { gc(); const { heapUsed, arrayBuffers } = process.memoryUsage(); return heapUsed + arrayBuffers; };
    const message = Buffer.alloc(100, "m");
    /** The most that is held while 1,000,000 messages are sent. */
    const heldBy = async (send) => {
      const before = used();
      let most = 0;
      const messages = async function* () {
        for (let batch = 0; batch < 10_000; batch++) {
          yield Buffer.concat(new Array(100).fill(message));
          if (batch % 1_000 === 999) most = Math.max(most, used() - before);
        }
      };
      const outcome = await send({ method: "PUT", body: ReadableStream.from(messages()), duplex: "half" });
      return { most, outcome };
    };
    const bare = await heldBy((init) => globalThis.fetch(url, init));
    const guarded = await heldBy((init) => save.outcome((attempt) => fetch(url, attempt, init)));
    console.log(requests, bytes, guarded.outcome.kind, guarded.most - bare.most < 10_000_000);

    const cancelled = used();
    for (let batch = 0; batch < 1_000; batch++) {
      const controller = new AbortController();
      const calls = Array.from({ length: 100 }, () =>
        save(({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
          { signal: controller.signal }).catch(() => {}));
      controller.abort();
      await Promise.all(calls);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
    console.log(save.abandoned, used() - cancelled < 3_000_000);
    server.close().closeAllConnections();
  `,
    ["--expose-gc"],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe("2 200000000 failed true\n0 true\n");
});
