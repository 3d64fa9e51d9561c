import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { serve, sleep, until } from "../../../test/lib/http.ts";
import { dependency, RefusedError, rejected, TimeoutError } from "../../index.node.ts";
import { fetch as guardedFetch } from "../fetch/fetch.ts";
import type { Handler, RequestContext } from "./exchange.ts";
import { guardedHandler } from "./handler.ts";
import type { HandlerOptions } from "./options.ts";

const silent = { onError: () => {} };

/** A guarded server, and a client of it that reads whole answers. */
async function guarded(options: HandlerOptions, handler: Handler) {
  const listener = guardedHandler({ ...silent, ...options }, handler);
  const server = await serve(listener);
  const ask = async (headers: Record<string, string> = {}, init: RequestInit = {}) => {
    const response = await fetch(server.url, { headers, ...init });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  return { ...server, listener, ask, stats: () => listener.stats };
}

/** A gate for handlers: they wait until it is opened. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

const NONE = { served: 0, refused: 0, expired: 0, clientGone: 0, failed: 0, inFlight: 0, waiting: 0 };

describe("a handler", () => {
  it.each([
    ["that is async", async (_: unknown, response: { end(text: string): void }) => response.end("ok")],
    ["that answers at once", (_: unknown, response: { end(text: string): void }) => void response.end("ok")],
    [
      "that answers in a callback",
      (_: unknown, response: { end(text: string): void }) => void setTimeout(() => response.end("ok"), 10),
    ],
    [
      "that returns while its stream is being sent",
      async (_: unknown, response: NodeJS.WritableStream) => void Readable.from(["o", "k"]).pipe(response),
    ],
  ] as [string, Handler][])("%s is served and counted", async (_name, handler) => {
    const { ask, stats } = await guarded({ bulkhead: { limit: 1 } }, handler);
    for (let round = 0; round < 3; round++) {
      expect(await ask()).toMatchObject({ status: 200, body: "ok" });
      await until(() => stats().inFlight === 0);
    }
    expect(stats()).toEqual({ ...NONE, served: 3 });
  });

  it("is told of its request", async () => {
    let context: RequestContext | null = null;
    const { ask } = await guarded(
      { trust: (request) => request.headers.via === "us" },
      (_, response, given) => {
        context = given;
        response.end(`${given.timeLeftMs > 0} ${given.signal.aborted}`);
      },
    );
    const said = { "x-plimsoll-criticality": "sheddable", "x-plimsoll-tenant": "caf%C3%A9" };
    const before = performance.now();
    expect(await ask({ ...said, "x-envoy-expected-rq-timeout-ms": "5000" })).toMatchObject({
      body: "true false",
    });
    expect(context).toMatchObject({ criticality: "critical", tenant: "" });
    const { arrivedAt, deadline } = context as unknown as RequestContext;
    expect(arrivedAt).toBeGreaterThanOrEqual(before);
    expect(deadline).toBe(arrivedAt + 5_000);
    await ask({ ...said, via: "us" });
    expect(context).toMatchObject({ criticality: "sheddable", tenant: "café", deadline: Infinity });
    await ask({ "x-plimsoll-criticality": "utmost", "x-plimsoll-tenant": "%", via: "us" });
    expect(context).toMatchObject({ criticality: "critical", tenant: "" });
  });

  it("hands its deadline, tenant and cancel on to the guarded calls that it makes", async () => {
    let stop: unknown;
    const back = await serve((request) => void request.on("close", () => {}));
    const stock = dependency({ name: "stock" }).operation("view");
    const front = await guarded({ trust: () => true }, async (_, response) => {
      await stock((attempt) => {
        expect(attempt.call).toMatchObject({ tenant: "t1", criticality: "sheddablePlus" });
        return guardedFetch(back.url, attempt).then((reply) => reply.text());
      }).catch((error) => {
        stop = error;
        throw error;
      });
      response.end();
    });
    const leave = new AbortController();
    const headers = {
      "grpc-timeout": "3S",
      "x-plimsoll-tenant": "t1",
      "x-plimsoll-criticality": "sheddablePlus",
    };
    const answer = front.ask(headers, { signal: leave.signal }).catch(() => {});
    await until(() => back.seen.length === 1);
    const left = Number(back.seen[0]!.headers["x-envoy-expected-rq-timeout-ms"]);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(3_000);
    leave.abort();
    await until(() => stop !== undefined && back.sockets.closed >= 1);
    await answer;
    expect(stop).toMatchObject({ name: "AbortError", message: "the client has gone" });
    expect(front.stats()).toEqual({ ...NONE, clientGone: 1 });
  });
});

describe("the time left", () => {
  const left = async (options: HandlerOptions, headers: Record<string, string>) => {
    const { ask } = await guarded(options, (_, response, { deadline, arrivedAt }) => {
      response.end(String(Math.round(deadline - arrivedAt)));
    });
    const { status, body } = await ask(headers);
    return status === 200 ? Number(body) : status;
  };
  const all = {
    "x-envoy-expected-rq-timeout-ms": "1000",
    "grpc-timeout": "2S",
    "connect-timeout-ms": "3000",
  };

  it.each([
    [{}, {}, Infinity],
    [{ defaultTimeoutMs: 700 }, {}, 700],
    [{ maxTimeoutMs: 600 }, {}, 600],
    [{ defaultTimeoutMs: 700, maxTimeoutMs: 600 }, {}, 600],
    [{ defaultTimeoutMs: 700 }, all, 1_000],
    [{ maxTimeoutMs: 600 }, all, 600],
    [{ maxTimeoutMs: 5_000 }, all, 1_000],
    [{ deadlineHeaders: ["connect-timeout-ms", "grpc-timeout"] }, all, 3_000],
    [{ deadlineHeaders: [] }, all, Infinity],
    [{ deadlineHeaders: ["grpc-timeout"] }, { "grpc-timeout": "99999999H" }, 2 ** 31 - 1],
    [{}, { "x-envoy-expected-rq-timeout-ms": "1.5", "grpc-timeout": "2S" }, 2_000],
    [{ defaultTimeoutMs: 700 }, { "x-envoy-expected-rq-timeout-ms": "0" }, 700],
    [{ invalidDeadline: "reject" }, { "x-envoy-expected-rq-timeout-ms": "1.5", "grpc-timeout": "2S" }, 400],
    [{ invalidDeadline: "reject" }, all, 1_000],
  ] as [HandlerOptions, Record<string, string>, number][])("%j, %j: %d", async (options, headers, ms) => {
    expect(await left(options, headers)).toBe(ms);
  });
});

describe("refused before the start", () => {
  it("503 when full: to be tried again later, and nothing was executed", async () => {
    const { opened, open } = gate();
    const { ask, stats } = await guarded({ bulkhead: { limit: 1 } }, async (_, response) => {
      await opened;
      response.end("ok");
    });
    const first = ask();
    await until(() => stats().inFlight === 1);
    const { status, headers, body } = await ask();
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toMatch(/^[123]$/);
    expect(headers.get("x-plimsoll-not-executed")).toBe("true");
    expect(headers.has("x-envoy-overloaded")).toBe(false);
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect(JSON.parse(body)).toEqual({ type: "about:blank", title: "Service Unavailable", status: 503 });
    const repeat = await ask({ "x-envoy-attempt-count": "2" });
    expect(repeat.headers.get("x-envoy-overloaded")).toBe("true");
    expect(await ask({}, { method: "HEAD" })).toMatchObject({ status: 503, body: "" });
    expect(stats()).toEqual({ ...NONE, refused: 3, inFlight: 1 });
    open();
    expect(await first).toMatchObject({ status: 200, body: "ok" });
  });

  it("a guarded client repeats such a refusal, a POST too, and is served", async () => {
    const { opened, open } = gate();
    const { url, ask, stats } = await guarded(
      { bulkhead: { limit: 1 }, retryAfterMs: { min: 0, max: 0 } },
      async (_, response) => {
        await opened;
        response.end("ok");
      },
    );
    const first = ask();
    await until(() => stats().inFlight === 1);
    const buy = dependency({ name: "orders" }).operation("buy", {
      retry: { attempts: 2, backoff: { kind: "constant", delayMs: 50 } },
    });
    const second = buy((attempt) =>
      guardedFetch(url, attempt, { method: "POST" }).then((reply) => reply.text()),
    );
    await until(() => stats().refused === 1);
    open();
    expect([(await first).body, await second]).toEqual(["ok", "ok"]);
  });

  it("Retry-After is spread over its bounds", async () => {
    const options = { bulkhead: { limit: 1 }, retryAfterMs: { min: 2_000, max: 9_000 } };
    const { ask, stats } = await guarded(options, () => new Promise(() => {}));
    void ask().catch(() => {});
    await until(() => stats().inFlight === 1);
    const waits = new Set<number>();
    for (let round = 0; round < 40; round++) waits.add(Number((await ask()).headers.get("retry-after")));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(9);
    expect(waits.size).toBeGreaterThan(2);
  });

  it("503 and no retry when the time is over on arrival: no work is started", async () => {
    const handler = vi.fn();
    const { ask, stats } = await guarded({ minUsefulMs: 20 }, handler);
    for (const value of ["0m", "1n", "19m"]) {
      const { status, headers } = await ask({ "grpc-timeout": value });
      expect([status, headers.get("x-envoy-overloaded")]).toEqual([503, "true"]);
    }
    expect(handler).not.toHaveBeenCalled();
    expect(stats()).toEqual({ ...NONE, refused: 3 });
  });

  it("who finds it full may wait, in order, but not for ever", async () => {
    const { opened, open } = gate();
    const queue = { maxWaiting: 2, maxWaitMs: 40 };
    const order: string[] = [];
    const { ask, stats, listener } = await guarded(
      { bulkhead: { limit: 1, queue } },
      async (request, response) => {
        order.push(request.headers["x-id"] as string);
        await opened;
        response.end("ok");
      },
    );
    const first = ask({ "x-id": "1" });
    await until(() => stats().inFlight === 1);
    const late = ask({ "x-id": "2" });
    await until(() => stats().waiting === 1);
    expect(await late).toMatchObject({ status: 503 });
    const leave = new AbortController();
    const left = ask({ "x-id": "3" }, { signal: leave.signal }).catch(() => "left");
    await until(() => stats().waiting === 1);
    const fourth = ask({ "x-id": "4" });
    await until(() => stats().waiting === 2);
    leave.abort();
    expect(await left).toBe("left");
    await until(() => stats().waiting === 1);
    open();
    expect([(await first).status, (await fourth).status]).toEqual([200, 200]);
    expect(order).toEqual(["1", "4"]);
    await until(() => stats().inFlight === 0);
    expect(stats()).toEqual({ ...NONE, served: 2, refused: 1, clientGone: 1 });
    expect(listener.bulkhead!.gate.held).toBe(0);
  });

  it("exempt requests pass, and are not counted", async () => {
    const exempt = vi.fn((request: IncomingMessage) => request.url === "/health");
    const { url, ask, stats } = await guarded(
      { bulkhead: { limit: 1 }, maxTimeoutMs: 60_000, exempt },
      (request, response, context) => {
        if (request.url === "/health") response.end(String(context.deadline));
      },
    );
    void ask().catch(() => {});
    await until(() => stats().inFlight === 1);
    expect((await ask()).status).toBe(503);
    expect(await (await fetch(`${url}health`, { headers: { "grpc-timeout": "0m" } })).text()).toBe(
      "Infinity",
    );
    expect(stats()).toEqual({ ...NONE, refused: 1, inFlight: 1 });
  });
});

describe("over while at work", () => {
  it("504, and the place is held until the handler's promise has ended", async () => {
    const { opened, open } = gate();
    let reason: unknown;
    const { ask, stats, listener } = await guarded(
      { bulkhead: { limit: 1 } },
      async (_, response, { signal }) => {
        signal.addEventListener("abort", () => {
          reason = signal.reason;
        });
        await opened;
        if (!signal.aborted) return response.end("ok");
        response.writeHead(200, { "x-late": "1" }).write("late");
        response.setHeader("x-late", "2");
        response.flushHeaders();
        await new Promise<void>((done) => void response.end("late", done));
        return response;
      },
    );
    const { status, headers, body } = await ask({ "x-envoy-expected-rq-timeout-ms": "30" });
    expect([status, headers.get("content-type")]).toEqual([504, "application/problem+json"]);
    expect(JSON.parse(body)).toEqual({ type: "about:blank", title: "Gateway Timeout", status: 504 });
    expect(reason).toBeInstanceOf(TimeoutError);
    expect(stats()).toEqual({ ...NONE, expired: 1, inFlight: 1 });
    expect((await ask()).status).toBe(503);
    open();
    await until(() => stats().inFlight === 0);
    expect(listener.bulkhead!.gate.held).toBe(0);
    expect(stats()).toEqual({ ...NONE, expired: 1, refused: 1 });
    expect(await ask()).toMatchObject({ status: 200, body: "ok" });
  });

  it("a callback that answers too late does not end the process", async () => {
    const late = vi.fn();
    const { ask, stats } = await guarded({ maxTimeoutMs: 20 }, (_, response) => {
      setTimeout(() => {
        response.statusCode = 201;
        response.writeHead(201).end("late");
        response.write("later");
        late();
      }, 60);
    });
    expect(await ask()).toMatchObject({ status: 504 });
    await until(() => late.mock.calls.length === 1);
    await sleep(10);
    expect(stats()).toEqual({ ...NONE, expired: 1 });
  });

  it("with its head sent: no second one, the connection ends", async () => {
    const { url, stats } = await guarded({ maxTimeoutMs: 40 }, async (_, response, { signal }) => {
      response.write("begun");
      await new Promise((done) => signal.addEventListener("abort", done));
    });
    const response = await fetch(url);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
    await until(() => stats().inFlight === 0);
    expect(stats()).toEqual({ ...NONE, expired: 1 });
  });

  it("an answer given in time counts, however slowly it is read", async () => {
    const size = 8_000_000;
    const { url, stats } = await guarded(
      { maxTimeoutMs: 60 },
      (_, response) => void response.end(Buffer.alloc(size)),
    );
    const response = await fetch(url);
    await sleep(120);
    expect((await response.arrayBuffer()).byteLength).toBe(size);
    expect(stats()).toEqual({ ...NONE, served: 1 });
  });
});

describe("an error of the handler", () => {
  const boom = Object.assign(new Error("secret"), { code: "E_SECRET" });

  it.each([
    [
      "thrown",
      () => {
        throw boom;
      },
    ],
    [
      "rejected",
      async () => {
        throw boom;
      },
    ],
  ] as [string, Handler][])("%s is 500 without internals, and reported", async (_name, handler) => {
    const onError = vi.fn();
    const { ask, stats } = await guarded({ onError }, (request, response, context) => {
      response.setHeader("content-length", 99);
      response.setHeader("content-encoding", "br");
      response.setHeader("access-control-allow-origin", "*");
      return handler(request, response, context);
    });
    const { status, headers, body } = await ask();
    expect(status).toBe(500);
    expect(JSON.parse(body)).toEqual({ type: "about:blank", title: "Internal Server Error", status: 500 });
    expect(headers.has("content-encoding")).toBe(false);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(onError).toHaveBeenCalledExactlyOnceWith(boom, expect.objectContaining({ method: "GET" }));
    expect(stats()).toEqual({ ...NONE, failed: 1 });
  });

  it("after the head: no second one", async () => {
    const { url, stats } = await guarded({}, async (_, response) => {
      response.write("begun");
      await sleep(10);
      throw boom;
    });
    const response = await fetch(url);
    await expect(response.text()).rejects.toThrow("terminated");
    expect(stats()).toEqual({ ...NONE, failed: 1 });
  });

  it.each([
    [
      "a refusal of a guard further down",
      new RefusedError("stock", "view", rejected("breaker", "open")),
      503,
      "true",
    ],
    [
      "a timeout further down",
      new TimeoutError({ dependency: "stock", operation: "view" } as never, 5, false),
      504,
      null,
    ],
    ["anything else", boom, 500, null],
  ])("%s", async (_name, error, code, overloaded) => {
    const { ask } = await guarded({}, () => Promise.reject(error));
    const { status, headers } = await ask();
    expect([status, headers.get("x-envoy-overloaded")]).toEqual([code, overloaded]);
    expect(headers.has("x-plimsoll-not-executed")).toBe(false);
  });

  it("a failed reply from further down that must not be retried is not retried further up", async () => {
    const back = await serve((_, response) => void response.writeHead(503).end());
    const stock = dependency({ name: "stock" }).operation("view");
    const front = await guarded({}, () => stock((attempt) => guardedFetch(back.url, attempt).then(() => 1)));
    const view = dependency({ name: "front" }).operation("view", {
      idempotent: true,
      retry: { attempts: 3 },
    });
    await expect(view((attempt) => guardedFetch(front.url, attempt).then(() => 1))).rejects.toMatchObject({
      status: 503,
    });
    expect([front.seen.length, back.seen.length]).toEqual([1, 1]);
  });

  it("is told to console.error by default", async () => {
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    const { url } = await serve(guardedHandler({}, () => Promise.reject(boom)));
    expect((await fetch(url)).status).toBe(500);
    expect(told).toHaveBeenCalledExactlyOnceWith(boom);
    told.mockRestore();
  });

  it.each(["trust", "exempt"] as const)("a %s that throws is one, too", async (field) => {
    const onError = vi.fn();
    const handler = vi.fn();
    const broken = () => {
      throw boom;
    };
    const { ask, stats } = await guarded({ onError, [field]: broken }, handler);
    expect((await ask()).status).toBe(500);
    expect(handler).not.toHaveBeenCalled();
    expect(onError).toHaveBeenCalledExactlyOnceWith(boom, expect.anything());
    expect(stats()).toEqual({ ...NONE, failed: 1 });
  });
});

it("requests sent ahead of their answers are left together", async () => {
  const { port, stats } = await guarded({}, async (_, _response, { signal }) => {
    await new Promise((done) => signal.addEventListener("abort", done));
  });
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => stats().inFlight === 2);
  socket.destroy();
  await until(() => stats().clientGone === 2 && stats().inFlight === 0);
});

it("the cap can be changed while it runs", async () => {
  const { ask, stats, listener } = await guarded(
    { bulkhead: { limit: 1 } },
    async (_, response, { signal }) => {
      await new Promise((done) => signal.addEventListener("abort", done));
      response.end();
    },
  );
  const leave = new AbortController();
  void ask({}, { signal: leave.signal }).catch(() => {});
  await until(() => stats().inFlight === 1);
  expect((await ask()).status).toBe(503);
  listener.bulkhead!.resize(2);
  void ask({}, { signal: leave.signal }).catch(() => {});
  await until(() => stats().inFlight === 2);
  leave.abort();
  await until(() => stats().inFlight === 0);
});

it.each([
  ["defaultTimeoutMs", [Number.NaN, -1, 0, Infinity, 2 ** 31, "5"]],
  ["maxTimeoutMs", [Number.NaN, -1, 0, Infinity, 2 ** 31, null]],
  ["invalidDeadline", ["guess"]],
  ["deadlineHeaders", ["grpc-timeout"]],
  ["deadlineHeaders[0]", [["x-timeout"]], "deadlineHeaders"],
  [
    "retryAfterMs.min",
    [
      { min: Number.NaN, max: 1 },
      { min: -1, max: 1 },
    ],
    "retryAfterMs",
  ],
  [
    "retryAfterMs.max",
    [
      { min: 5, max: 1 },
      { min: 0, max: Infinity },
      { min: 0, max: 2 ** 31 },
    ],
    "retryAfterMs",
  ],
  ["retryAfterMs", [null, [], 5]],
  ["trust", [true, null]],
  ["exempt", ["/health", null]],
  ["onError", [1, null]],
  ["bulkheads", [{ limit: 1 }]],
] as [string, unknown[], string?][])("guardedHandler refuses a wrong %s", (field, values, option = field) => {
  for (const value of values) {
    expect(() => guardedHandler({ [option]: value }, () => {})).toThrow(
      expect.objectContaining({ name: "OptionError", field: `guardedHandler.${field}` }),
    );
  }
});

it.each([undefined, null, [], "options"])("guardedHandler refuses %j for its options", (options) => {
  expect(() => guardedHandler(options as never, () => {})).toThrow(
    expect.objectContaining({ name: "OptionError", field: "guardedHandler" }),
  );
});

it("a handler is a function", () => {
  expect(() => guardedHandler({}, "handler" as never)).toThrow(expect.objectContaining({ field: "handler" }));
});
