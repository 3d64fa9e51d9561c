// axios under guards: what is axios's own stays so.
import type { Readable } from "node:stream";
import axios, { type AxiosError } from "axios";
import { expect, it } from "vitest";
import { bodyOf, serve, sleep, until } from "../../../test/lib/http.ts";
import { guard } from "./index.ts";

const TRIED_THRICE = { retry: { attempts: 3, backoff: () => 0 } };
const failed = (asked: Promise<unknown>): Promise<AxiosError> =>
  asked.then(
    () => null as never,
    (error) => error,
  );

it("keeps what the instance is, and leaves the instance as it is", async () => {
  const { url, seen } = await serve((_, response) => response.end('{"left":7}'));
  const plain = axios.create({ baseURL: url, headers: { "x-shop": "basketly" } });
  const api = guard(plain, { name: "stock" });
  const reply = await api.get("items/7");
  expect(reply).toMatchObject({ status: 200, data: { left: 7 } });
  expect(reply.config.signal).toBeUndefined();
  expect(reply.config.headers.has("x-envoy-attempt-count")).toBe(false);
  expect(seen[0]).toMatchObject({ url: "/items/7", headers: { "x-shop": "basketly" } });
  expect((await plain.get("items/7")).data).toEqual({ left: 7 });
  expect(seen[1]?.headers["x-envoy-attempt-count"]).toBeUndefined();
});

it("throws axios's own error, with the reply, or gives it where `validateStatus` says so", async () => {
  const { url, seen } = await serve((_, response) => response.writeHead(500).end('{"say":"sorry"}'));
  const api = guard(axios, { name: "stock", operation: TRIED_THRICE });
  const error = await failed(api.get(url));
  expect(axios.isAxiosError(error)).toBe(true);
  expect(error).toMatchObject({
    code: "ERR_BAD_RESPONSE",
    response: { status: 500, data: { say: "sorry" } },
  });
  expect((await api.get(url, { validateStatus: () => true })).status).toBe(500);
  expect(seen).toHaveLength(6);
});

it("an abort is axios's own cancel, by a signal, a token, or both", async () => {
  const { url, seen } = await serve(() => {});
  const api = guard(axios, { name: "stock" });
  const signal = new AbortController();
  const token = axios.CancelToken.source();
  const both = { signal: signal.signal, cancelToken: token.token };
  const asked = [
    api.get(url, { signal: signal.signal }),
    api.get(url, { cancelToken: token.token }),
    api.get(url, both),
  ];
  const errors = Promise.all(asked.map(failed));
  await until(() => seen.length === 3);
  token.cancel("gone");
  signal.abort();
  for (const error of await errors) expect(axios.isCancel(error)).toBe(true);
});

it("leaves nothing behind on a cancel token that outlives its requests", async () => {
  const { url } = await serve((_, response) => response.end("tea"));
  const api = guard(axios, { name: "stock" });
  const { token } = axios.CancelToken.source();
  await api.get(url, { cancelToken: token });
  expect((token as unknown as { _listeners: unknown[] })._listeners).toEqual([]);
});

it("an interceptor may send the request again, as the caller made it", async () => {
  const { url, seen } = await serve((request, response) => {
    response.writeHead(request.headers.authorization === "new" ? 200 : 401).end("tea");
  });
  const api = guard(axios, { name: "stock", operation: { attemptTimeoutMs: 20_000 } });
  api.interceptors.response.use(undefined, (error: AxiosError) => {
    if (error.config === undefined) throw error;
    expect(error.config.signal).toBeUndefined();
    error.config.headers.set("authorization", "new");
    return api.request(error.config);
  });
  expect((await api.get(url)).data).toBe("tea");
  expect(seen.map(({ headers }) => headers["x-envoy-attempt-count"])).toEqual(["1", "1"]);
});

it("a timeout of the instance is off; one of a request holds for each attempt", async () => {
  const { url } = await serve((request, response) => {
    if (request.url === "/slow") setTimeout(() => response.end("tea"), 200);
  });
  const api = guard(axios.create({ timeout: 50 }), { name: "stock", operation: TRIED_THRICE });
  expect((await api.get(`${url}slow`)).data).toBe("tea");
  expect(await failed(api.get(url, { timeout: 50 }))).toMatchObject({ code: "ECONNABORTED" });
});

it("a stream holds the attempt until it has ended, and is ended with it", async () => {
  let end = (): void => {};
  const { url, seen } = await serve((_, response) => {
    response.write("green ");
    end = () => response.end("tea");
  });
  const options = { bulkhead: { limit: 1 }, operation: { attemptTimeoutMs: 1_000 } };
  const api = guard(axios, { name: "stock", ...options });
  const ask = () => api.get<Readable>(url, { responseType: "stream" });
  const { data } = await ask();
  expect(await failed(ask())).toMatchObject({ by: "bulkhead" });
  end();
  expect((await data.setEncoding("utf8").toArray()).join("")).toBe("green tea");
  const late = (await ask()).data;
  await expect(late.toArray()).rejects.toThrow();
  expect(seen).toHaveLength(2);
  await ask().then(({ data }) => data.destroy());
});

it("a stream that is thrown away does not keep its connection", async () => {
  const { url, seen, sockets } = await serve((_, response) => {
    response.writeHead(seen.length < 3 ? 500 : 200).write("tea");
    if (seen.length === 3) response.end();
  });
  const api = guard(axios, { name: "stock", operation: TRIED_THRICE });
  const { data } = await api.get<Readable>(url, { responseType: "stream" });
  expect((await data.setEncoding("utf8").toArray()).join("")).toBe("tea");
  await until(() => sockets.closed >= 2);
});

it("sends the same body again, be it JSON, a form or bytes", async () => {
  const bodies: string[] = [];
  const { url } = await serve(async (request, response) => {
    bodies.push(String(await bodyOf(request)));
    response.writeHead(bodies.length % 2 === 1 ? 500 : 200).end();
  });
  const api = guard(axios, { name: "stock", operation: { retry: { attempts: 2, backoff: () => 0 } } });
  await api.put(url, { left: 7 });
  await api.put(url, new URLSearchParams({ left: "7" }));
  await api.put(url, Buffer.from("42"));
  expect(bodies).toEqual(['{"left":7}', '{"left":7}', "left=7", "left=7", "42", "42"]);
});

it("with axios's own fetch adapter, the same", async () => {
  const { url, seen } = await serve((_, response) =>
    seen.length < 3 ? response.writeHead(503).end() : response.end("tea"),
  );
  const api = guard(axios.create({ adapter: "fetch" }), { name: "stock", operation: TRIED_THRICE });
  expect((await api.get(url)).data).toBe("tea");
  await sleep(10);
  expect(seen).toHaveLength(3);
});
