// Case 044: a discarded error reply kept its connection.
import { expect, it } from "vitest";
import { serve, until } from "../../../test/lib/http.ts";
import { constant, dependency } from "../../index.node.ts";
import { fetch } from "./fetch.ts";

it.each([
  ["long bodies", 1_000_000],
  ["short bodies", 1_000],
])(
  "ten 503s with %s through a bulkhead of 2: never more than 2 sockets, none left busy",
  async (_name, size) => {
    const answering = { now: 0, most: 0 };
    const { url, seen } = await serve((_, response) => {
      answering.most = Math.max(answering.most, ++answering.now);
      response.on("close", () => answering.now--);
      if (seen.length > 10) response.end("ok");
      else response.writeHead(503).end(Buffer.alloc(size));
    });
    const stock = dependency({
      name: "stock",
      bulkhead: { limit: 2, queue: { maxWaiting: 10, maxWaitMs: 5_000 } },
    });
    const view = stock.operation("view", {
      idempotent: true,
      attemptTimeoutMs: 5_000,
      retry: { attempts: 20, backoff: constant(1) },
    });
    const call = () => view((attempt) => fetch(url, attempt).then((response) => response.text()));
    expect(await Promise.all([call(), call()])).toEqual(["ok", "ok"]);
    expect(seen.length).toBe(12);
    await until(() => answering.now === 0);
    expect(answering.most).toBeLessThanOrEqual(2);
    expect(stock.bulkhead!.gate.held).toBe(0);
  },
);
