// What holds for ky, axios, got and a guarded fetch alike, on real servers: one request for each attempt, and no retries but the guards'.

import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { describe, expect, it } from "vitest";
import { bodyOf, serve, sleep, until } from "../../../test/lib/http.ts";
import { CLIENTS, statusOf } from "../../../test/lib/http-clients.ts";
import { OptionError, RefusedError, TimeoutError } from "../../core/index.ts";
import { guard as guardAxios } from "../axios/index.ts";
import { guard as guardGot } from "../got/index.ts";
import { guard as guardKy } from "../ky/index.ts";

const failed = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => "no error",
    (error) => error,
  );
const TRIED_THRICE = { retry: { attempts: 3, backoff: () => 0 } };

describe.each(Object.entries(CLIENTS))("%s", (name, client) => {
  const stream = () =>
    name === "ky" || name === "fetch" ? new Blob(["green tea"]).stream() : Readable.from(["green ", "tea"]);

  it("gives the reply, and tells the server attempt and time left", async () => {
    const { url, seen } = await serve((_, response) => response.end("tea"));
    const ask = client({ operation: { attemptTimeoutMs: 20_000 } });
    expect(await ask("GET", url)).toBe("tea");
    expect(seen).toHaveLength(1);
    expect(seen[0]?.headers["x-envoy-attempt-count"]).toBe("1");
    const told = Number(seen[0]?.headers["x-envoy-expected-rq-timeout-ms"]);
    expect(told).toBeGreaterThan(10_000);
    expect(told).toBeLessThan(20_000);
  });

  it("tells no time to servers that must not be told", async () => {
    const { url, seen } = await serve((_, response) => response.end("tea"));
    await client({ operation: { attemptTimeoutMs: 20_000 }, deadlineHeader: "none" })("GET", url);
    expect(seen[0]?.headers["x-envoy-expected-rq-timeout-ms"]).toBeUndefined();
  });

  it("sends one request for each attempt, and then gives the last reply as its client does", async () => {
    const { url, seen } = await serve((request, response) =>
      response.writeHead(503).end(`busy ${request.headers["x-envoy-attempt-count"]}`),
    );
    const error = await failed(client({ operation: TRIED_THRICE })("GET", url));
    expect(statusOf(error)).toBe(503);
    const { response } = error as {
      response: { body?: unknown; data?: unknown; text?: () => Promise<string> };
    };
    expect(await (response.text?.() ?? response.data ?? response.body)).toBe("busy 3");
    expect(seen).toHaveLength(3);
  });

  it("without retries sends once, whatever the client does by itself", async () => {
    const { url, seen } = await serve((_, response) => response.writeHead(503, { "retry-after": "0" }).end());
    expect(statusOf(await failed(client({})("GET", url)))).toBe(503);
    await sleep(50);
    expect(seen).toHaveLength(1);
  });

  it("never shows a reply after which it tries again", async () => {
    const { url, seen } = await serve((_, response) =>
      seen.length < 3 ? response.writeHead(500).end("sorry") : response.end("tea"),
    );
    expect(await client({ operation: TRIED_THRICE })("GET", url)).toBe("tea");
    expect(seen).toHaveLength(3);
  });

  it("waits as long as Retry-After says", async () => {
    const times: number[] = [];
    const { url } = await serve((_, response) => {
      times.push(performance.now());
      if (times.length === 1) response.writeHead(503, { "retry-after": "1" }).end();
      else response.end("tea");
    });
    expect(await client({ operation: TRIED_THRICE })("GET", url)).toBe("tea");
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990);
  });

  it("does not repeat what the server says must not be", async () => {
    const { url, seen } = await serve((_, response) =>
      response.writeHead(503, { "x-envoy-overloaded": "true" }).end(),
    );
    expect(statusOf(await failed(client({ operation: TRIED_THRICE })("GET", url)))).toBe(503);
    expect(seen).toHaveLength(1);
  });

  it("an abort in the backoff settles at once", async () => {
    const { url, seen } = await serve((_, response) => response.writeHead(503).end());
    const gone = new AbortController();
    const ask = client({ operation: { retry: { attempts: 3, backoff: () => 1_000_000 } } });
    const asked = failed(ask("GET", url, { signal: gone.signal }));
    await until(() => seen.length === 1);
    await sleep(20);
    gone.abort(new Error("gone"));
    expect(await asked).toBeInstanceOf(Error);
    expect(seen).toHaveLength(1);
  });

  it("an abort in the queue, too, and nothing is sent", async () => {
    const { url, seen } = await serve(() => {});
    const one = new AbortController();
    const two = new AbortController();
    const ask = client({ bulkhead: { limit: 1, queue: { maxWaiting: 5, maxWaitMs: 100_000 } } });
    const first = failed(ask("GET", url, { signal: one.signal }));
    const second = failed(ask("GET", url, { signal: two.signal }));
    await until(() => seen.length === 1);
    two.abort();
    expect(await second).toBeInstanceOf(Error);
    one.abort();
    expect(await first).toBeInstanceOf(Error);
    await sleep(20);
    expect(seen).toHaveLength(1);
  });

  it("ends an attempt at its timeout, and the call at its deadline", async () => {
    const { url, seen, sockets } = await serve(() => {});
    const ask = client({ operation: { attemptTimeoutMs: 300, ...TRIED_THRICE } });
    expect(await failed(ask("GET", url))).toBeInstanceOf(TimeoutError);
    expect(seen).toHaveLength(3);
    const short = client({ operation: { totalTimeoutMs: 300, ...TRIED_THRICE } });
    expect(await failed(short("GET", url))).toMatchObject({ clipped: true });
    expect(seen).toHaveLength(4);
    await until(() => sockets.closed >= 4);
  });

  it("a POST without a key is not repeated after a reset, with one it is", async () => {
    const { url, seen } = await serve(async (request) => {
      await bodyOf(request);
      request.socket.destroy();
    });
    const ask = client({ operation: TRIED_THRICE });
    expect(await failed(ask("POST", url, { body: "tea" }))).toBeInstanceOf(Error);
    expect(seen).toHaveLength(1);
    await failed(ask("POST", url, { body: "tea", headers: { "Idempotency-Key": "7" } }));
    expect(seen).toHaveLength(4);
    expect(seen.slice(1).map(({ headers }) => headers["idempotency-key"])).toEqual(["7", "7", "7"]);
  });

  it("sends the same body on each attempt", async () => {
    const bodies: string[] = [];
    const { url } = await serve(async (request, response) => {
      bodies.push(`${await bodyOf(request)} ${request.headers["content-length"]}`);
      if (bodies.length < 3) response.writeHead(500).end();
      else response.end("tea");
    });
    expect(await client({ operation: TRIED_THRICE })("PUT", url, { body: "green tea" })).toBe("tea");
    expect(bodies).toEqual(Array(3).fill("green tea 9"));
  });

  it("a body that can be sent once is sent once", async () => {
    const bodies: string[] = [];
    const { url } = await serve(async (request, response) => {
      bodies.push(String(await bodyOf(request)));
      response.writeHead(500).end();
    });
    const ask = client({ operation: TRIED_THRICE });
    expect(statusOf(await failed(ask("PUT", url, { stream })))).toBe(500);
    expect(bodies).toEqual(["green tea"]);
  });

  it("nor after a reset, nor by a hedge", async () => {
    const { url, seen } = await serve(async (request, response) => {
      await bodyOf(request);
      if (request.url === "/reset") return void request.socket.destroy();
      await sleep(200);
      response.end("tea");
    });
    let repeats = 0;
    const backoff = (): number => {
      repeats++;
      return 0;
    };
    const ask = client({ operation: { retry: { attempts: 3, backoff }, hedge: { delayMs: 50 } } });
    expect(await ask("PUT", url, { stream })).toBe("tea");
    expect(seen).toHaveLength(1);
    expect(await failed(ask("PUT", `${url}reset`, { stream }))).toBeInstanceOf(Error);
    expect(repeats).toBe(0);
  });

  it("a place is held until the body has come", async () => {
    let go = (): void => {};
    const { url, seen } = await serve((_, response) => {
      response.write("green ");
      go = () => response.end("tea");
    });
    const ask = client({ bulkhead: { limit: 1 } });
    const first = ask("GET", url);
    await until(() => seen.length === 1);
    expect(await failed(ask("GET", url))).toMatchObject({ by: "bulkhead", reason: "full" });
    go();
    expect(await first).toBe("green tea");
    const second = ask("GET", url);
    await until(() => seen.length === 2);
    go();
    expect(await second).toBe("green tea");
  });

  it("ends a body that takes too long", async () => {
    const { url, sockets } = await serve((_, response) => void response.write("green "));
    const ask = client({ bulkhead: { limit: 1 }, operation: { attemptTimeoutMs: 100 } });
    expect(await failed(ask("GET", url))).toBeInstanceOf(Error);
    await until(() => sockets.closed >= 1);
    expect(await failed(ask("GET", url))).not.toBeInstanceOf(RefusedError);
  });

  it("an abort is heard while the body comes, and frees the place", async () => {
    const { url, seen, sockets } = await serve((_, response) => void response.write("green "));
    const ask = client({ bulkhead: { limit: 1 } });
    const gone = new AbortController();
    const asked = failed(ask("GET", url, { signal: gone.signal }));
    await until(() => seen.length === 1);
    await sleep(50);
    gone.abort();
    expect(await asked).toBeInstanceOf(Error);
    await until(() => sockets.closed >= 1);
    const again = failed(ask("GET", url, { signal: AbortSignal.timeout(50) }));
    expect(await again).not.toBeInstanceOf(RefusedError);
    expect(seen).toHaveLength(2);
  });

  it("a breaker opens for one method, and not for the others", async () => {
    const { url, seen } = await serve((request, response) =>
      request.method === "GET" ? response.writeHead(500).end() : response.end("tea"),
    );
    const ask = client({ operation: { breaker: { window: { calls: 4 } } } });
    for (let i = 0; i < 4; i++) expect(statusOf(await failed(ask("GET", url)))).toBe(500);
    expect(await failed(ask("GET", url))).toMatchObject({ by: "breaker", reason: "open", operation: "GET" });
    expect(await ask("DELETE", url)).toBe("tea");
    expect(seen).toHaveLength(5);
  });

  it("a hedge wins, and the loser is dropped", async () => {
    const { url, seen, sockets } = await serve((_, response) => {
      if (seen.length === 2) response.end("tea");
    });
    expect(await client({ operation: { hedge: { delayMs: 50 } } })("GET", url)).toBe("tea");
    expect(seen).toHaveLength(2);
    await until(() => sockets.closed >= 1);
  });

  it("nobody there: nothing was sent, and a POST is repeated", async () => {
    const { url, server } = await serve(() => {});
    await new Promise((done) => server.close(done));
    let repeats = 0;
    const backoff = (): number => {
      repeats++;
      return 0;
    };
    const ask = client({ operation: { retry: { attempts: 3, backoff } } });
    expect(await failed(ask("POST", url, { body: "tea" }))).toBeInstanceOf(Error);
    expect(repeats).toBe(2);
  });

  it("takes compressed replies as its client does", async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.end("green tea");
    });
    expect(await client({})("GET", url)).toBe("green tea");
  });

  // ky itself derives a signal from the caller's for each request.
  if (name !== "ky")
    it("leaves nothing on a signal that lives on", async () => {
      const { url } = await serve((_, response) => response.end("tea"));
      const { signal } = new AbortController();
      const ask = client({});
      for (let i = 0; i < 20; i++) await ask("GET", url, { signal });
      const dependants = Object.getOwnPropertySymbols(signal).find(
        ({ description }) => description === "kDependantSignals",
      );
      const left =
        dependants === undefined
          ? undefined
          : (signal as unknown as Record<symbol, Set<unknown>>)[dependants];
      expect(left?.size ?? 0).toBe(0);
    });

  it("refuses wrong options before anything starts", () => {
    const make = (options: object) => () => client(options);
    expect(make({ name: "" })).toThrow("dependency.name");
    expect(make({ marginMs: -1 })).toThrow("guard.marginMs");
    expect(make({ deadlineHeader: "grpc-timeout" })).toThrow("guard.deadlineHeader");
    expect(make({ operation: { idempotent: true } })).toThrow("guard.operation.idempotent");
    expect(make({ operation: { coalesce: {} } })).toThrow("guard.operation.coalesce");
    expect(make({ operation: { attemptTimeoutMs: 0 } })).toThrow("attemptTimeoutMs");
    expect(make({ timeout: 5 })).toThrow("dependency.timeout");
  });
});

it.each(Object.entries({ ky: guardKy, axios: guardAxios, got: guardGot }))(
  "%s refuses what is no instance of its client",
  (name, guard) => {
    for (const wrong of [undefined, {}, { operation: {} }]) {
      const make = () => guard(wrong as never, { name: "stock" });
      expect(make).toThrow(OptionError);
      expect(make).toThrow(`allowed: ${name}, or`);
    }
  },
);
