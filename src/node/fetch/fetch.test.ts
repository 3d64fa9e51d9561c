import { describe, expect, it } from "vitest";
import { serve, serveTcp, until } from "../../../test/lib/http.ts";
import { dependency, fullJitter, type OperationOptions, RefusedError } from "../../index.node.ts";
import { createFetch, type FetchOptions, fetch } from "./fetch.ts";
import { HttpError } from "./http-error.ts";
import type { FetchInit } from "./request.ts";

const TIME_LEFT = "x-envoy-expected-rq-timeout-ms";
const operation = (options: OperationOptions = {}) =>
  dependency({ name: "stock", bulkhead: { limit: 1 } }).operation("view", options);
const retried = {
  idempotent: true,
  retry: { attempts: 3, backoff: fullJitter({ baseMs: 1, capMs: 1 }) },
} as const;
const read = (response: Response): Promise<string> => response.text();

describe("what is sent", () => {
  it("the time left, for each attempt anew, and the attempt's number", async () => {
    const { url, seen } = await serve((_, response) => {
      response.statusCode = seen.length < 3 ? 500 : 200;
      setTimeout(() => response.end("ok"), 20);
    });
    const view = operation({ ...retried, attemptTimeoutMs: 5_000, totalTimeoutMs: 4_000 });
    expect(await view((attempt) => fetch(url, attempt).then(read))).toBe("ok");
    const left = seen.map(({ headers }) => Number(headers[TIME_LEFT]));
    expect(seen.map(({ headers }) => headers["x-envoy-attempt-count"])).toEqual(["1", "2", "3"]);
    expect(left[0]).toBeLessThanOrEqual(4_000);
    expect(left[0]! - left[1]!).toBeGreaterThanOrEqual(19);
    expect(left[1]! - left[2]!).toBeGreaterThanOrEqual(19);
    expect(left[2]).toBeGreaterThan(0);
  });

  it("the attempt's own timeout if that is less, less the margin", async () => {
    const { url, seen } = await serve((_, response) => void response.end());
    const view = operation({ attemptTimeoutMs: 3_000, totalTimeoutMs: 60_000 });
    await view((attempt) => createFetch({ marginMs: 1_000 })(url, attempt).then(read));
    expect(Number(seen[0]!.headers[TIME_LEFT])).toBeLessThanOrEqual(2_000);
    expect(Number(seen[0]!.headers[TIME_LEFT])).toBeGreaterThan(1_000);
  });

  it("no time where there is no limit", async () => {
    const { url, seen } = await serve((_, response) => void response.end());
    await operation()((attempt) => fetch(url, attempt).then(read));
    expect(seen[0]!.headers).not.toHaveProperty(TIME_LEFT);
  });

  it.each([
    [{}, '"k-1"'],
    [{ idempotencyKey: "quoted" }, '"k-1"'],
    [{ idempotencyKey: "bare" }, "k-1"],
  ] as const)("the idempotency key as %j says", async (options: FetchOptions, spelled) => {
    const { url, seen } = await serve((_, response) => void response.end());
    const work = createFetch(options);
    await operation()((attempt) => work(url, attempt).then(read), { idempotencyKey: "k-1" });
    await operation()((attempt) => work(url, attempt).then(read));
    expect(seen.map(({ headers }) => headers["idempotency-key"])).toEqual([spelled, undefined]);
  });

  it("criticality and tenant to listed hosts, and no further", async () => {
    const other = await serve((_, response) => void response.end("elsewhere"));
    const { url, port, seen } = await serve(
      (_, response) => void response.writeHead(307, { location: other.url }).end(),
    );
    const call = { criticality: "sheddable", tenant: "café" } as const;
    const told = createFetch({ contextHosts: [`127.0.0.1:${port}`] });
    const status = (response: Response): Promise<string> => response.text().then(() => `${response.status}`);
    expect(await operation()((attempt) => told(url, attempt).then(status), call)).toBe("307");
    expect(seen[0]!.headers).toMatchObject({
      "x-plimsoll-criticality": "sheddable",
      "x-plimsoll-tenant": "caf%C3%A9",
    });
    expect(other.seen).toHaveLength(0);
    expect(await operation()((attempt) => fetch(url, attempt).then(read), call)).toBe("elsewhere");
    expect(seen[1]!.headers).not.toHaveProperty("x-plimsoll-tenant");
    expect(other.seen[0]!.headers).not.toHaveProperty("x-plimsoll-criticality");
  });

  it.each([
    ["127.0.0.1", true],
    [".0.0.1", true],
    ["0.0.1", false],
    ["stock.internal", false],
  ])("a host listed as %s", async (host, listed) => {
    const { url, seen } = await serve((_, response) => void response.end());
    await operation()((attempt) => createFetch({ contextHosts: [host] })(url, attempt).then(read));
    expect("x-plimsoll-criticality" in seen[0]!.headers).toBe(listed);
  });

  it("all of what a Request says", async () => {
    const { url, seen } = await serve((_, response) => void response.end());
    const request = new Request(url, { method: "PUT", headers: { "x-mine": "1" } });
    await operation()((attempt) => fetch(request, attempt).then(read), { idempotencyKey: "k" });
    expect(seen[0]).toMatchObject({ method: "PUT", headers: { "x-mine": "1", "idempotency-key": '"k"' } });
  });
});

describe("headers of the caller's own", () => {
  const send = async (headers: Record<string, string>, idempotencyKey?: string) => {
    const { url, seen } = await serve((_, response) => void response.end());
    const work = createFetch({ contextHosts: ["127.0.0.1"] });
    const view = operation(retried);
    const outcome = await view.outcome((attempt) => work(url, attempt, { headers }).then(read), {
      idempotencyKey,
    });
    return { outcome, sent: seen.map((request) => request.headers) };
  };

  it("win", async () => {
    const headers = {
      "x-plimsoll-criticality": "criticalPlus",
      "x-plimsoll-tenant": "me",
      "idempotency-key": "mine",
    };
    expect((await send(headers)).sent).toMatchObject([headers]);
    expect((await send({ "Idempotency-Key": "k" }, "k")).sent).toMatchObject([{ "idempotency-key": "k" }]);
  });

  it.each([
    [{ [TIME_LEFT]: "100" }, undefined],
    [{ "X-Envoy-Attempt-Count": "1" }, undefined],
    [{ "Idempotency-Key": "other" }, "k"],
  ])("are refused where they would be wrong: %j", async (headers: Record<string, string>, key) => {
    const { outcome, sent } = await send(headers, key);
    expect(outcome).toMatchObject({ kind: "failed", class: "permanent", error: expect.any(TypeError) });
    expect(sent).toHaveLength(0);
  });

  it("the signal is the attempt's", async () => {
    const { url, seen } = await serve((_, response) => void response.end());
    const init = { signal: AbortSignal.timeout(1_000) } as FetchInit;
    await expect(operation()((attempt) => fetch(url, attempt, init).then(read))).rejects.toThrow(
      /init\.signal/,
    );
    expect(seen).toHaveLength(0);
  });

  it("but a Request has one of its own, and is followed", async () => {
    const { url } = await serve(() => {});
    const leave = new AbortController();
    const request = new Request(url, { signal: leave.signal });
    const answer = operation()((attempt) => fetch(request, attempt).then(read));
    setTimeout(() => leave.abort(new Error("left")), 20);
    await expect(answer).rejects.toThrow("left");
  });
});

describe("too little time", () => {
  it("fails here, by the deadline, with nothing sent and nothing held against the callee", async () => {
    const { url, seen } = await serve((_, response) => void response.end());
    const view = operation({
      ...retried,
      attemptTimeoutMs: 40,
      breaker: { window: { calls: 1 }, failureRate: 0.5, openMs: 60_000 },
    });
    const outcome = await view.outcome((attempt) => createFetch({ marginMs: 50 })(url, attempt).then(read));
    expect(outcome).toMatchObject({ kind: "failed", effect: "none", ended: "clipped" });
    const { error } = outcome as { error: RefusedError };
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ by: "deadline", sent: false });
    expect(seen).toHaveLength(0);
    expect(view.breaker!.state.name).toBe("closed");
  });
});

describe("a failed reply", () => {
  it("is an HttpError that keeps no secret of the address in its message", async () => {
    const { url, port } = await serve((_, response) => {
      response.writeHead(422, { "x-why": "size" }).end("no such size");
    });
    const error: unknown = await operation()((attempt) =>
      fetch(`${url}items?token=secret#x`, attempt, { method: "POST" }).then(read),
    ).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({
      status: 422,
      body: "no such size",
      message: `POST http://127.0.0.1:${port}/items: 422`,
    });
    expect((error as HttpError).headers.get("x-why")).toBe("size");
  });

  it("is repeated as the peer says: a POST, if it was not executed", async () => {
    const { url, seen } = await serve((_, response) => {
      if (seen.length > 1) response.end("ok");
      else response.writeHead(503, { "x-plimsoll-not-executed": "true" }).end();
    });
    const buy = operation({ retry: retried.retry });
    expect(await buy((attempt) => fetch(url, attempt, { method: "POST", body: "1" }).then(read))).toBe("ok");
    expect(seen).toHaveLength(2);
  });

  it.each([
    [503, { "x-envoy-overloaded": "true" }],
    [429, { "x-envoy-ratelimited": "true" }],
    [503, { "x-should-retry": "false" }],
    [500, { "grpc-retry-pushback-ms": "soon" }],
    [404, {}],
  ])("is not repeated: %d %j", async (status, headers) => {
    const { url, seen } = await serve((_, response) => void response.writeHead(status, headers).end());
    await expect(operation(retried)((attempt) => fetch(url, attempt).then(read))).rejects.toMatchObject({
      status,
    });
    expect(seen).toHaveLength(1);
  });

  it.each([
    ["long", (body: NodeJS.WritableStream) => void body.end(Buffer.alloc(200_000))],
    ["endless", (body: NodeJS.WritableStream) => void body.write("a".repeat(100))],
  ])("does not wait for a %s body", async (_name, write) => {
    const { url, sockets } = await serve((_, response) => {
      response.writeHead(500);
      write(response);
    });
    const view = operation({ attemptTimeoutMs: 10_000 });
    const error: unknown = await view((attempt) =>
      createFetch({ errorBodyMs: 20 })(url, attempt).then(read),
    ).catch((thrown) => thrown);
    expect(error).toMatchObject({ status: 500 });
    expect((error as HttpError).body.length).toBeLessThanOrEqual(16_384);
    await until(() => sockets.closed >= 1);
  });
});

describe("a failed connection", () => {
  it("was not sent, so even a POST is tried again", async () => {
    const { url, server } = await serve(() => {});
    await new Promise((done) => server.close(done));
    const buy = operation({ retry: retried.retry });
    let attempts = 0;
    const outcome = await buy.outcome((attempt) => {
      attempts++;
      return fetch(url, attempt, { method: "POST" }).then(read);
    });
    expect(outcome).toMatchObject({ kind: "failed", class: "transient", effect: "none", ended: "unsent" });
    expect(attempts).toBe(3);
  });

  it("that breaks while in use says nothing about what was done", async () => {
    let requests = 0;
    const { url } = await serveTcp((socket) => {
      socket.on("data", () => {
        requests++;
        socket.destroy();
      });
    });
    const buy = operation({ retry: retried.retry });
    const outcome = await buy.outcome((attempt) =>
      fetch(url, attempt, { method: "POST", body: "1" }).then(read),
    );
    expect(outcome).toMatchObject({
      kind: "failed",
      class: "transient",
      effect: "unknown",
      stoppedBy: { by: "retry", reason: "not repeatable" },
    });
    expect(requests).toBe(1);
  });

  it("that speaks no HTTP is no success of the callee", async () => {
    const { url } = await serveTcp(
      (socket) => void socket.on("data", () => socket.end("SSH-2.0-OpenSSH\r\n\r\n")),
    );
    const outcome = await operation().outcome((attempt) => fetch(url, attempt).then(read));
    expect(outcome).toMatchObject({ kind: "failed", class: "transient", effect: "unknown" });
  });
});

it.each([
  ["marginMs", [Number.NaN, -1, Infinity, 2 ** 31, "5"]],
  ["errorBodyBytes", [Number.NaN, -1, 1.5, Infinity, 2 ** 31]],
  ["errorBodyMs", [Number.NaN, -1, Infinity, 2 ** 31]],
  ["idempotencyKey", ["none", 1]],
  ["contextHosts", ["stock", [1], [""]]],
  ["fetch", [1, "fetch"]],
  ["margin", [5]],
])("createFetch refuses a wrong %s", (field, values) => {
  for (const value of values) {
    expect(() => createFetch({ [field]: value })).toThrow(
      expect.objectContaining({ name: "OptionError", field: `createFetch.${field}` }),
    );
  }
});

it("the defaults are what the documentation says", async () => {
  const { url, seen } = await serve((_, response) => void response.writeHead(500).end("x".repeat(16_384)));
  const error: unknown = await operation({ attemptTimeoutMs: 60_000 })((attempt) =>
    fetch(url, attempt).then(read),
  ).catch((thrown) => thrown);
  expect((error as HttpError).body).toHaveLength(16_384);
  expect(Number(seen[0]!.headers[TIME_LEFT])).toBeGreaterThan(50_000);
});
