// Replies of a guarded fetch that are in the caller's hands: bodies that hang, are left unread, or have been read before.
import { expect, it } from "vitest";
import { serve, sleep, until } from "../../../test/lib/http.ts";
import { TimeoutError } from "../../core/index.ts";
import { type FetchGuardOptions, guard } from "../fetch/index.ts";
import { NodeRuntime } from "../runtime.ts";

const guarded = (options: Partial<FetchGuardOptions> = {}) =>
  guard({ name: "stock", ...options }, new NodeRuntime());
const TRIED_TWICE = { retry: { attempts: 2, backoff: () => 0 } };

const hanging = (status: number) =>
  serve((_, response) => void response.writeHead(status, { "content-length": 100 }).write("green "));

it.each([200, 503])("an abort frees a %i that nobody reads", async (status) => {
  const { url, seen, sockets } = await hanging(status);
  const fetch = guarded({ bulkhead: { limit: 1 } });
  const gone = new AbortController();
  const reply = await fetch(url, { signal: gone.signal });
  gone.abort(new Error("gone"));
  await expect(reply.text()).rejects.toThrow();
  await until(() => sockets.closed >= 1);
  await fetch(url, { signal: AbortSignal.timeout(100) });
  expect(seen).toHaveLength(2);
});

it("the body of a bad reply, too, ends with the attempt's time", async () => {
  const { url, sockets } = await hanging(503);
  const fetch = guarded({ operation: { ...TRIED_TWICE, attemptTimeoutMs: 200 } });
  const [read, unread] = await Promise.all([fetch(url), fetch(url)]);
  await expect(read.text()).rejects.toBeInstanceOf(TimeoutError);
  expect(unread.status).toBe(503);
  await until(() => sockets.closed >= 4);
});

it("a bad reply can be read at leisure where nothing bounds it, whatever its status", async () => {
  const { url } = await serve((request, response) =>
    response.writeHead(Number(request.url?.slice(1))).end("sorry"),
  );
  const fetch = guarded({ operation: { attemptTimeoutMs: 20_000 } });
  for (const status of [400, 599, 600, 999]) {
    const reply = await fetch(`${url}${status}`);
    expect([reply.status, await reply.clone().text(), await reply.text()]).toEqual([
      status,
      "sorry",
      "sorry",
    ]);
  }
});

it("a bad reply that was read before, or has no stream, is discarded without a word", async () => {
  const { url, seen } = await serve((_, response) => response.writeHead(503).end("busy"));
  const reads = guarded({
    operation: TRIED_TWICE,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      await response.text(); // a log, say
      return response;
    },
  });
  expect((await reads(url)).status).toBe(503);
  const stub = { status: 503, headers: new Headers(), body: { on() {} } };
  const stubs = guarded({ operation: TRIED_TWICE, fetch: async () => stub as never });
  expect(await stubs(url)).toBe(stub);
  await sleep(10); // else a rejection that nobody handles
  expect(seen).toHaveLength(2);
});
