// ky under guards: what is ky's own stays so, but for its retries and its timeout.
import ky, { HTTPError } from "ky";
import { expect, it } from "vitest";
import { bodyOf, serve, sleep, until } from "../../../test/lib/http.ts";
import { guard } from "./index.ts";

const TRIED_THRICE = { retry: { attempts: 3, backoff: () => 0 } };

it("keeps what the instance is, and leaves the instance as it is", async () => {
  const { url, seen } = await serve((_, response) => response.end('{"left":7}'));
  const plain = ky.create({ prefixUrl: url, headers: { "x-shop": "basketly" } });
  const api = guard(plain, { name: "stock" });
  expect(await api.get("items/7").json()).toEqual({ left: 7 });
  expect(seen[0]).toMatchObject({
    url: "/items/7",
    headers: { "x-shop": "basketly", accept: "application/json" },
  });
  expect(await plain.get("items/7").json()).toEqual({ left: 7 });
  expect(seen[1]?.headers["x-envoy-attempt-count"]).toBeUndefined();
});

it("throws ky's own error, with the reply, or gives it where ky would", async () => {
  const { url, seen } = await serve((_, response) => response.writeHead(500).end("sorry"));
  const api = guard(ky, { name: "stock", operation: TRIED_THRICE });
  const error = (await api.get(url).catch((caught: unknown) => caught)) as HTTPError;
  expect(error).toBeInstanceOf(HTTPError);
  expect(await error.response.text()).toBe("sorry");
  const response = await api.get(url, { throwHttpErrors: false });
  expect([response.status, await response.text()]).toEqual([500, "sorry"]);
  expect(seen).toHaveLength(6);
});

it("ky's own retries and timeout are off, though its instance had them", async () => {
  const { url, seen } = await serve(async (request, response) => {
    if (request.url === "/slow") await sleep(200);
    response.writeHead(request.url === "/slow" ? 200 : 503, { "retry-after": "0" }).end();
  });
  const eager = ky.create({ retry: { limit: 5, delay: () => 0 }, timeout: 50 });
  const api = guard(eager, { name: "stock" });
  await expect(api.get(url)).rejects.toThrow("503");
  await sleep(50);
  expect(seen).toHaveLength(1);
  expect((await api.get(`${url}slow`)).status).toBe(200);
});

it("sends with another fetch, and with what a request says to it", async () => {
  const heard: unknown[] = [];
  const api = guard(ky, {
    name: "stock",
    fetch: async (request, init) => {
      heard.push(request.url, (init as { dispatcher?: unknown }).dispatcher);
      return new Response("tea");
    },
  });
  expect(await api.get("http://stock.internal/", { dispatcher: "mine" } as object).text()).toBe("tea");
  expect(heard).toEqual(["http://stock.internal/", "mine"]);
  expect(() => guard(ky, { name: "stock", fetch: "yes" as never })).toThrow("guard.fetch");
});

it("JSON, forms and URL parameters are sent again as they were", async () => {
  const bodies: string[] = [];
  const { url } = await serve(async (request, response) => {
    bodies.push(String(await bodyOf(request)));
    response.writeHead(bodies.length % 2 === 1 ? 500 : 200).end();
  });
  const api = guard(ky, { name: "stock", operation: { retry: { attempts: 2, backoff: () => 0 } } });
  await api.put(url, { json: { left: 7 } });
  await api.put(url, { body: new URLSearchParams({ left: "7" }) });
  await api.put(url, { body: new Uint8Array([52, 50]) });
  expect(bodies).toEqual(['{"left":7}', '{"left":7}', "left=7", "left=7", "42", "42"]);
});

it("a Request with a body of its own is sent once: nobody can see what it was made from", async () => {
  const { url, seen } = await serve(async (request, response) => {
    await bodyOf(request);
    response.writeHead(500).end();
  });
  const api = guard(ky, { name: "stock", operation: TRIED_THRICE });
  const request = new Request(url, { method: "PUT", body: "tea" });
  await expect(api(request)).rejects.toThrow("500");
  expect(seen).toHaveLength(1);
});

it("a reply that is thrown away does not keep its connection", async () => {
  const { url, seen, sockets } = await serve((_, response) => {
    response.writeHead(seen.length < 10 ? 500 : 200).end("x".repeat(seen.length < 5 ? 100 : 100_000));
  });
  const api = guard(ky, {
    name: "stock",
    operation: { retry: { attempts: 10, backoff: () => 20 } },
    budget: "none",
  });
  expect(await api.get(url).text()).toHaveLength(100_000);
  expect(seen).toHaveLength(10);
  expect(sockets.most).toBeLessThan(5);
});

it("nor does one that is held when the caller leaves", async () => {
  const { url, sockets } = await serve((_, response) => void response.writeHead(500).write("and so on"));
  const api = guard(ky, { name: "stock", operation: { retry: { attempts: 3, backoff: () => 1_000_000 } } });
  const gone = new AbortController();
  const asked = api.get(url, { signal: gone.signal }).catch(() => "gone");
  await until(() => sockets.open === 1);
  await sleep(50);
  gone.abort();
  expect(await asked).toBe("gone");
  await until(() => sockets.closed >= 1);
});

it("nor one that comes when its attempt is over", async () => {
  let cancelled = false;
  const body = new ReadableStream({
    cancel() {
      cancelled = true;
    },
  });
  const api = guard(ky, {
    name: "stock",
    operation: { attemptTimeoutMs: 50 },
    fetch: async () => {
      await sleep(100); // deaf to its signal
      return new Response(body);
    },
  });
  await expect(api.get("http://stock.internal/")).rejects.toThrow("given up after 50 ms");
  await until(() => cancelled);
});

it("a body that is being streamed holds the attempt, until it is read or cancelled", async () => {
  const { url } = await serve((_, response) => response.end("x".repeat(500_000)));
  const api = guard(ky, { name: "stock", bulkhead: { limit: 1 } });
  const reply = await api.get(url);
  await expect(api.get(url)).rejects.toThrow("refused by bulkhead");
  await reply.body?.cancel();
  expect(await api.get(url).text()).toHaveLength(500_000);
});
