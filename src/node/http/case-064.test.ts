// Case 064: a request's 'close' after its body was read was taken for a disconnect.
import { Agent, type ClientRequest, request as send } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { bodyOf, serve, sleep, until } from "../../../test/lib/http.ts";
import { guardedHandler } from "./handler.ts";

const WORK_MS = 400;

/** A server that reads the body and works; how its signals fired, and how long after `left` was set. */
async function worker() {
  const seen = { left: 0, firedAfterMs: [] as number[] };
  const listener = guardedHandler({}, async (request, response, { signal }) => {
    signal.addEventListener("abort", () => void seen.firedAfterMs.push(performance.now() - seen.left));
    const body = await bodyOf(request);
    if (request.url !== "/quick") await sleep(WORK_MS);
    response.end(body);
  });
  return { ...(await serve(listener)), seen, listener };
}

function start(port: number, method: string, path: string, agent: Agent): ClientRequest {
  const request = send({ port, host: "127.0.0.1", method, path, agent });
  request.on("error", () => {});
  request.end(method === "POST" ? "x".repeat(100_000) : undefined);
  return request;
}

function finished(request: ClientRequest): Promise<number> {
  return new Promise((done, fail) => {
    request.on("error", fail);
    request.on("response", (response) => response.resume().on("end", () => done(response.statusCode!)));
  });
}

function kept(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return agent;
}

it.each(["GET", "POST"])("%s: a client that stays is never taken for one that left", async (method) => {
  const { port, seen, listener } = await worker();
  const agent = kept();
  expect(await finished(start(port, method, "/", agent))).toBe(200);
  expect(await finished(start(port, method, "/", agent))).toBe(200);
  expect(seen.firedAfterMs).toEqual([]);
  expect(listener.stats).toMatchObject({ served: 2, clientGone: 0 });
});

describe("a client that leaves is noticed", () => {
  it.each([
    ["a GET", "GET", false],
    ["a POST whose body was read", "POST", false],
    ["a second GET on a kept connection", "GET", true],
    ["a second POST on a kept connection", "POST", true],
  ])("%s", async (_name, method, second) => {
    const { port, seen, listener, sockets } = await worker();
    const agent = kept();
    if (second) expect(await finished(start(port, method, "/quick", agent))).toBe(200);
    const request = start(port, method, "/", agent);
    await until(() => listener.stats.inFlight === 1);
    await sleep(100);
    expect(seen.firedAfterMs).toEqual([]);
    seen.left = performance.now();
    request.destroy();
    await until(() => seen.firedAfterMs.length === 1);
    // 50 ms is the aim and about 1 is usual; the bound only has to be well before the work would have ended.
    expect(seen.firedAfterMs[0]).toBeLessThan(WORK_MS - 150);
    expect(sockets.closed).toBe(1);
    await until(() => listener.stats.inFlight === 0);
    expect(listener.stats).toMatchObject({ served: second ? 1 : 0, clientGone: 1 });
  });
});
