import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool, request } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { immediately, OptionError, RefusedError, TimeoutError } from "../../index.node.ts";
import { guard, type UndiciGuardOptions } from "./index.ts";

const open: { server: Server; pools: Pool[] }[] = [];

afterEach(async () => {
  for (const { server, pools } of open.splice(0)) {
    await Promise.all(pools.map((pool) => pool.destroy()));
    server.closeAllConnections();
    server.close();
  }
});

type Serve = (request: IncomingMessage, response: ServerResponse, nth: number) => void;

/** A server, and what it was asked; a guarded pool of connections to it. */
async function made(serve: Serve, options: Partial<UndiciGuardOptions> = {}, connections = 2) {
  const asked: { method: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  const server = createServer(async (incoming, response) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    asked.push({ method: incoming.method ?? "", headers: incoming.headers, body });
    serve(incoming, response, asked.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections });
  open.push({ server, pools: [pool] });
  const dispatcher = pool.compose(
    guard({ name: "stock", operation: { retry: { attempts: 3, backoff: immediately } }, ...options }),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/item`;
  const ask = (more: object = {}) => request(url, { dispatcher, ...more });
  return { asked, ask, pool, server };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const answer =
  (status: number, text: string, headers: Record<string, string> = {}): Serve =>
  (_request, response) => {
    response.writeHead(status, headers);
    response.end(text);
  };

describe("a guarded undici pool", () => {
  it("passes a good reply on, and holds the place until its body has arrived", async () => {
    const long = "six in stock".repeat(100_000);
    const { ask, asked } = await made(
      (_request, response, nth) => answer(200, nth === 1 ? long : "six in stock")(_request, response, nth),
      {
        bulkhead: { limit: 1 },
      },
    );
    const first = await ask();
    await expect(ask()).rejects.toThrow(RefusedError);
    expect((await first.body.text()).length).toBe(long.length);
    expect(await (await ask()).body.text()).toBe("six in stock");
    expect(asked.length).toBe(2);
    expect(asked[0]?.headers["x-envoy-attempt-count"]).toBe("1");
  });

  it("tries a failing GET again, and gives only the last reply to the caller", async () => {
    const { ask, asked } = await made((_request, response, nth) => {
      response.writeHead(nth < 3 ? 503 : 200, { "x-nth": String(nth) });
      response.end(`reply ${nth} ${"x".repeat(2_000)}`);
    });
    const { statusCode, headers, body } = await ask();
    expect([statusCode, headers["x-nth"], (await body.text()).slice(0, 7)]).toEqual([200, "3", "reply 3"]);
    expect(asked.map(({ headers }) => headers["x-envoy-attempt-count"])).toEqual(["1", "2", "3"]);
  });

  it("passes the last bad reply on as it is when it tries no more", async () => {
    const { ask, asked } = await made(answer(500, "no stock", { "x-why": "a fault" }));
    const { statusCode, headers, body } = await ask();
    expect([statusCode, headers["x-why"], await body.text()]).toEqual([500, "a fault", "no stock"]);
    expect(asked.length).toBe(3);
    const { ask: empty } = await made(answer(503, ""));
    const reply = await empty();
    expect([reply.statusCode, await reply.body.text()]).toEqual([503, ""]);
  });

  it("passes business refusals on at once", async () => {
    const { ask, asked } = await made(answer(404, "no such item"));
    const { statusCode, body } = await ask();
    expect([statusCode, await body.text(), asked.length]).toEqual([404, "no such item", 1]);
  });

  it("repeats a write only with a key (case 040), and only a body that can be sent twice (case 043)", async () => {
    const { ask, asked } = await made((_request, response, nth) =>
      answer(nth % 2 === 1 ? 502 : 200, "x")(_request, response, nth),
    );
    const plain = await ask({ method: "POST", body: "a" });
    expect([plain.statusCode, await plain.body.text(), asked.length]).toEqual([502, "x", 1]);
    asked.length = 0;
    const keyed = await ask({ method: "POST", body: "b", headers: { "Idempotency-Key": '"k-1"' } });
    expect([keyed.statusCode, await keyed.body.text()]).toEqual([200, "x"]);
    expect(asked.map(({ body, headers }) => [body, headers["idempotency-key"]])).toEqual([
      ["b", '"k-1"'],
      ["b", '"k-1"'],
    ]);
    asked.length = 0;
    const stream = async function* () {
      yield "c";
    };
    const once = await ask({ method: "PUT", body: stream() as never });
    expect([once.statusCode, await once.body.text(), asked.length]).toEqual([502, "x", 1]);
  });

  it("gives up after its time, frees the socket, and says so", async () => {
    const { ask, pool, asked } = await made(() => {}, { operation: { attemptTimeoutMs: 400 } });
    await expect(ask()).rejects.toThrow(TimeoutError);
    const told = Number(asked[0]?.headers["x-envoy-expected-rq-timeout-ms"]);
    expect([told > 0, told <= 399]).toEqual([true, true]);
    await sleep(50);
    expect(pool.stats.running).toBe(0);
  });

  it("ends a body that takes too long", async () => {
    const { ask } = await made(
      (_request, response) => {
        response.writeHead(200);
        response.write("a beginning");
      },
      { operation: { attemptTimeoutMs: 400 } },
    );
    const { body } = await ask();
    await expect(body.text()).rejects.toThrow("given up");
  });

  it("hears its caller's signal while it waits, while it is sent and while the body is read", async () => {
    const { ask, pool } = await made(
      (_request, response, nth) => {
        if (nth > 1) response.writeHead(200).write("x");
      },
      { bulkhead: { limit: 1, queue: { maxWaiting: 5, maxWaitMs: 5_000 } } },
    );
    const [sent, waiting] = [new AbortController(), new AbortController()];
    const first = ask({ signal: sent.signal });
    const second = ask({ signal: waiting.signal });
    const settled = Promise.allSettled([first, second]);
    await sleep(50);
    waiting.abort(new Error("left the queue"));
    sent.abort(new Error("left"));
    const ends = await settled;
    expect(ends.map((end) => (end as PromiseRejectedResult).reason?.message)).toEqual([
      "left",
      "left the queue",
    ]);
    const reading = new AbortController();
    const { body } = await ask({ signal: reading.signal });
    reading.abort(new Error("read enough"));
    await expect(body.text()).rejects.toThrow("read enough");
    await sleep(50);
    expect(pool.stats.running).toBe(0);
  });

  it("reads what it throws away, so that two connections are enough for ten bad replies (case 044)", async () => {
    const sockets = new Set<unknown>();
    const { ask } = await made(
      (incoming, response, nth) => {
        sockets.add(incoming.socket);
        response.writeHead(nth < 10 ? 503 : 200);
        response.end("x".repeat(60_000));
      },
      { operation: { retry: { attempts: 10, backoff: immediately } }, budget: "none" },
    );
    const { statusCode, body } = await ask();
    expect([statusCode, (await body.text()).length]).toEqual([200, 60_000]);
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  it("opens its breaker for the method that fails, and refuses without sending", async () => {
    const { ask, asked } = await made(answer(500, "no"), {
      operation: { breaker: { window: { calls: 3 } } },
    });
    for (let i = 0; i < 3; i++) await (await ask()).body.dump();
    await expect(ask()).rejects.toThrow("stock.GET: refused by breaker (open)");
    expect(asked.length).toBe(3);
    expect((await ask({ method: "PUT", body: "x" })).statusCode).toBe(500);
  });

  it("gets over early hints, and gives the place back (103)", async () => {
    const { ask } = await made(
      (_request, response, nth) => {
        response.writeEarlyHints({ link: "</style.css>; rel=preload" });
        response.writeHead(nth === 1 ? 503 : 200).end(`reply ${nth}`);
      },
      { bulkhead: { limit: 1 } },
    );
    for (const nth of [2, 3, 4]) expect(await (await ask()).body.text()).toBe(`reply ${nth}`);
  });

  it("gives a tied request up as soon as the server has begun on the other (102)", async () => {
    const firstGone = deferred();
    const { ask, asked } = await made(
      async (_request, response, nth) => {
        if (nth === 1) return void response.on("close", firstGone.resolve);
        response.writeProcessing();
        await firstGone.promise; // cancelled while this one is still at work
        response.end("from the second");
      },
      { operation: { hedge: { delayMs: 5, tied: true } } },
    );
    const { body } = await ask();
    expect([await body.text(), asked.length]).toEqual(["from the second", 2]);
  });

  it("frees the connection of a reply that was held when its caller left", async () => {
    const { ask } = await made(
      (_request, response, nth) => {
        response.writeHead(nth === 1 ? 503 : 200, nth === 1 ? { "retry-after": "60" } : {});
        response.end("x".repeat(100_000));
      },
      { operation: { retry: { attempts: 2, backoff: immediately } } },
      1,
    );
    const leaving = new AbortController();
    const left = ask({ signal: leaving.signal });
    const failure = left.catch((error: Error) => error.message);
    await sleep(100);
    leaving.abort(new Error("left"));
    expect(await failure).toBe("left");
    expect((await (await ask()).body.text()).length).toBe(100_000);
  });

  it("waits as long as the server says", async () => {
    const { ask, asked } = await made((_request, response, nth) => {
      response.writeHead(nth === 1 ? 429 : 200, nth === 1 ? { "retry-after-ms": "150" } : {});
      response.end("x");
    });
    const from = performance.now();
    const { statusCode, body } = await ask();
    await body.dump();
    expect([statusCode, asked.length]).toEqual([200, 2]);
    expect(performance.now() - from).toBeGreaterThan(140);
  });

  it("reports a connection that failed, and what undici itself refuses, as they are", async () => {
    const { ask, server } = await made(answer(200, "x"));
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    await expect(ask()).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await expect(ask({ headersTimeout: -1 })).rejects.toThrow("invalid headersTimeout");
  });

  it("refuses wrong options by name", () => {
    const wrong: [object, string][] = [
      [{}, "dependency.name"],
      [{ name: "x", marginMs: -1 }, "guard.marginMs"],
      [{ name: "x", deadlineHeader: "grpc-timeout" }, "guard.deadlineHeader"],
      [{ name: "x", operation: { fallback: () => 1 } }, "guard.operation.fallback"],
      [{ name: "x", operation: { idempotent: true } }, "guard.operation.idempotent"],
      [{ name: "x", retries: 3 }, "dependency.retries"],
      [{ name: "x", operation: { retries: 3 } }, "retries"],
    ];
    for (const [options, field] of wrong) {
      expect(() => guard(options as never), field).toThrow(OptionError);
      expect(() => guard(options as never), field).toThrow(field);
    }
  });
});
