// Case 044: a discarded error reply kept its connection.
import { expect, it } from "vitest";
import { serve, until } from "../../../test/lib/http.ts";
import { constant, dependency } from "../../index.node.ts";
import { fetch } from "./fetch.ts";

it.each([
  ["long bodies that are still coming", 1_000_000, false],
  ["short bodies", 1_000, true],
])(
  "ten 503s with %s through a bulkhead of 2: no more sockets than places, none left busy",
  async (_name, size, ends) => {
    const answering = { now: 0, most: 0 };
    const { url, seen, sockets } = await serve((_, response) => {
      answering.most = Math.max(answering.most, ++answering.now);
      response.on("close", () => answering.now--);
      if (seen.length > 10) return response.end("ok");
      response.writeHead(503, { "content-length": ends ? size : 2 * size }).write(Buffer.alloc(size));
      return ends && response.end();
    });
    const stock = dependency({
      name: "stock",
      bulkhead: { limit: 2, queue: { maxWaiting: 10, maxWaitMs: 5_000 } },
      budget: "none",
    });
    const view = stock.operation("view", {
      idempotent: true,
      attemptTimeoutMs: 5_000,
      retry: { attempts: 20, backoff: constant(10) },
    });
    const call = () => view((attempt) => fetch(url, attempt).then((response) => response.text()));
    expect(await Promise.all([call(), call()])).toEqual(["ok", "ok"]);
    expect(seen.length).toBe(12);
    await until(() => answering.now === 0);
    // The server may hear that a connection was closed just after it hears of the next one.
    expect(answering.most).toBeLessThanOrEqual(3);
    if (ends) expect(sockets.most).toBeLessThanOrEqual(2);
    expect(stock.bulkhead!.gate.held).toBe(0);
  },
);
