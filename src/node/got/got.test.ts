// got under guards: what is got's own stays so, but for its retries.
import { Readable } from "node:stream";
import got, { HTTPError, type OptionsInit, RequestError } from "got";
import { expect, it } from "vitest";
import { bodyOf, serve, sleep, until } from "../../../test/lib/http.ts";
import { guard } from "./index.ts";

const TRIED_THRICE = { retry: { attempts: 3, backoff: () => 0 } };
const failed = (asked: Promise<unknown>): Promise<Error> =>
  asked.then(
    () => null as never,
    (error) => error,
  );

it("keeps what the instance is, and leaves the instance as it is", async () => {
  const { url, seen } = await serve((_, response) => response.end('{"left":7}'));
  const plain = got.extend({ prefixUrl: url, headers: { "x-shop": "basketly" } });
  const api = guard(plain, { name: "stock" });
  expect(await api("items/7").json()).toEqual({ left: 7 });
  expect(seen[0]).toMatchObject({
    url: "/items/7",
    headers: { "x-shop": "basketly", accept: "application/json" },
  });
  expect((await plain("items/7")).statusCode).toBe(200);
  expect(seen[1]?.headers["x-envoy-attempt-count"]).toBeUndefined();
  expect(api.defaults.options.retry.limit).toBe(0);
});

it("gives the reply in each of got's ways", async () => {
  const { url, seen } = await serve((_, response) => response.end('{"left":7}'));
  const api = guard(got, { name: "stock" });
  expect((await api(url)).body).toBe('{"left":7}');
  expect((await api({ url })).statusCode).toBe(200);
  expect(await api.get(new URL(url)).text()).toBe('{"left":7}');
  expect(await api(url).buffer()).toEqual(Buffer.from('{"left":7}'));
  expect(await api(url, { responseType: "json", resolveBodyOnly: true })).toEqual({ left: 7 });
  const later = api(url);
  await later;
  expect(await later.json()).toEqual({ left: 7 });
  expect((await api.post(url, { json: { one: 1 } })).statusCode).toBe(200);
  expect((await api.extend({ headers: { "x-shop": "basketly" } })(url)).statusCode).toBe(200);
  expect(seen.map(({ headers }) => headers["x-envoy-attempt-count"])).toEqual(Array(8).fill("1"));
  expect(seen[7]?.headers["x-shop"]).toBe("basketly");
});

it("throws got's own error, with the reply, or gives it where got would", async () => {
  const { url, seen } = await serve((_, response) => response.writeHead(500).end("sorry"));
  const api = guard(got, { name: "stock", operation: TRIED_THRICE });
  const error = await failed(api(url));
  expect(error).toBeInstanceOf(HTTPError);
  expect(error).toMatchObject({ response: { statusCode: 500, body: "sorry" } });
  expect(await api(url, { throwHttpErrors: false })).toMatchObject({ statusCode: 500, body: "sorry" });
  expect(seen).toHaveLength(6);
  expect(await failed(api(url).json())).toBeInstanceOf(HTTPError);
});

it("got's own retries are off, even where a request asks for them", async () => {
  const { url, seen } = await serve((_, response) => response.writeHead(503, { "retry-after": "0" }).end());
  const api = guard(got.extend({ retry: { limit: 5 } }), { name: "stock" });
  await failed(api(url));
  await failed(api(url, { retry: { limit: 3, calculateDelay: () => 1 } }));
  await failed(api.extend({ retry: { limit: 3 } })(url));
  await sleep(50);
  expect(seen).toHaveLength(3);
});

it("a hook may send once more, with a new token, within the attempt", async () => {
  const { url, seen } = await serve((request, response) =>
    response.writeHead(request.headers.authorization === "new" ? 200 : 401).end("tea"),
  );
  const renewing = got.extend({
    hooks: {
      afterResponse: [
        (response, again) =>
          response.statusCode === 401 ? again({ headers: { authorization: "new" } }) : response,
      ],
    },
  });
  expect(await guard(renewing, { name: "stock" })(url).text()).toBe("tea");
  expect(seen).toHaveLength(2);
});

it("is cancelled as got's promises are", async () => {
  const { url, seen, sockets } = await serve(() => {});
  const asked = guard(got, { name: "stock" })(url);
  expect(asked.isCanceled).toBe(false);
  const outcome = failed(asked);
  await until(() => seen.length === 1);
  asked.cancel();
  expect(await outcome).toMatchObject({ name: "AbortError" });
  expect(asked.isCanceled).toBe(true);
  await until(() => sockets.open === 0);
});

it("tells its listeners of each attempt", async () => {
  const { url } = await serve((request, response) =>
    response.writeHead(request.headers["x-envoy-attempt-count"] === "3" ? 200 : 500).end(),
  );
  const api = guard(got, { name: "stock", operation: TRIED_THRICE });
  const heard: number[] = [];
  const listen = (response: { statusCode: number }): void => void heard.push(response.statusCode);
  const unheard = (): void => void heard.push(0);
  await api(url).on("response", listen).on("response", unheard).off("response", unheard);
  expect(heard).toEqual([500, 500, 200]);
  let go = (): void => {};
  const slow = await serve((_, response) => {
    go = () => response.end();
  });
  const asked = api(slow.url);
  await until(() => slow.seen.length === 1);
  asked.on("response", listen); // the request is under way
  go();
  await asked;
  expect(heard).toHaveLength(4);
});

it("streams and pages pass unguarded, and are not repeated by got either", async () => {
  const { url, seen } = await serve((_, response) => response.writeHead(500).end());
  const api = guard(got, { name: "stock", bulkhead: { limit: 1 } });
  await failed(api.stream(url).toArray());
  await failed(api(url, { isStream: true }).toArray());
  await failed(api.paginate.all(url));
  expect(seen.map(({ headers }) => headers["x-envoy-attempt-count"])).toEqual(Array(3).fill(undefined));
});

it("sends the same body again, be it JSON, a form or bytes, and a stream once", async () => {
  const bodies: string[] = [];
  const { url } = await serve(async (request, response) => {
    bodies.push(String(await bodyOf(request)));
    response.writeHead(bodies.length % 2 === 1 ? 500 : 200).end();
  });
  const api = guard(got, { name: "stock", operation: { retry: { attempts: 2, backoff: () => 0 } } });
  await api.put(url, { json: { left: 7 } });
  await api.put(url, { form: { left: "7" } });
  await api.put(url, { body: Buffer.from("42") });
  await failed(api.put(url, { body: Readable.from(["once"]) }));
  expect(bodies).toEqual(['{"left":7}', '{"left":7}', "left=7", "left=7", "42", "42", "once"]);
});

it("what is wrong is got's own to say", async () => {
  const api = guard(got, { name: "stock" });
  expect(await failed(api("http://127.0.0.1:1/", { timeout: "never" } as object))).toBeInstanceOf(
    RequestError,
  );
});

it("an init hook changes a request once, however many attempts it takes", async () => {
  const { url, seen } = await serve((_, response) => response.writeHead(500).end());
  const init = (options: OptionsInit): void => {
    options.headers = { ...options.headers, "x-path": `${options.headers?.["x-path"] ?? ""}/items` };
  };
  const api = guard(got, { name: "stock", operation: TRIED_THRICE });
  await failed(api(url, { headers: { "x-path": "v1" }, hooks: { init: [init] } }));
  await failed(api.extend({ hooks: { init: [init] } })(url, { headers: { "x-path": "v1" } }));
  expect(seen.map(({ headers }) => headers["x-path"])).toEqual(Array(6).fill("v1/items"));
});
