/** Retries: leaving during a backoff, time limits that are none, and waits that all callers share. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import axios from "axios";
import axiosRetry from "axios-retry";
import * as cockatiel from "cockatiel";
import pRetry from "p-retry";
import { constant, dependency, fullJitter } from "plimsoll";
import { fetch } from "plimsoll/fetch";
import { Agent, RetryAgent, request } from "undici";
import { crowd, type Defect, fail, type Seen, sleep, watch } from "./defect.ts";

/** A caller who leaves 20 ms into a backoff of 300 ms: 0 is right, a late answer and another attempt count 1 each. */
async function leaves(
  call: (work: () => Promise<never>, signal: AbortSignal) => Promise<unknown>,
): Promise<Seen> {
  const controller = new AbortController();
  let attempts = 0;
  const work = (): Promise<never> => {
    attempts++;
    return fail();
  };
  const watched = watch(call(work, controller.signal));
  await sleep(20);
  controller.abort();
  await sleep(1_000);
  const { settledAfterMs } = watched;
  const late = settledAfterMs === null || settledAfterMs > 150;
  const words = `answered after ${settledAfterMs ?? "over 1,000"} ms, ${attempts} attempts`;
  return { value: Number(late) + (attempts - 1), words };
}

/** 100 ms for all of it, and attempts of 400 ms. */
async function takes(call: (work: () => Promise<never>) => Promise<unknown>): Promise<Seen> {
  const watched = watch(call(() => sleep(400).then(fail)));
  await watched.end;
  const value = watched.settledAfterMs ?? Infinity;
  return { value, words: `answered after ${value} ms` };
}

/** Serves until `use` has ended: what it answers, and when each request came. */
async function serving(
  status: (request: IncomingMessage, earlier: number) => number,
  use: (url: string, times: number[]) => Promise<Seen>,
): Promise<Seen> {
  const times: number[] = [];
  const seen = new Map<string, number>();
  const server: Server = createServer((incoming, response) => {
    const earlier = seen.get(incoming.url ?? "") ?? 0;
    seen.set(incoming.url ?? "", earlier + 1);
    times.push(performance.now());
    response.writeHead(status(incoming, earlier)).end();
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return await use(url, times).finally(() => {
    server.closeAllConnections();
    server.close();
  });
}

const CLIENTS = 20;
const WIDTH_MS = 50;

/** 20 clients that are turned away together once, and how many come back within the same 50 ms. */
function together(get: (url: string) => Promise<unknown>): Promise<Seen> {
  const once = (_: IncomingMessage, earlier: number): number => (earlier === 0 ? 503 : 200);
  return serving(once, async (url, times) => {
    await Promise.all(
      Array.from({ length: CLIENTS }, (_, client) => get(`${url}/${client}`).catch(() => {})),
    );
    const value = crowd(times.slice(CLIENTS), WIDTH_MS);
    return { value, words: `${value} of ${CLIENTS} came back within ${WIDTH_MS} ms` };
  });
}

const PATIENCE_MS = 9_000;

/** A server that stays down: how long a call with the library's defaults goes on. */
function givesUp(get: (url: string) => Promise<unknown>): Promise<Seen> {
  return serving(
    () => 503,
    async (url, times) => {
      const watched = watch(get(url));
      await Promise.race([watched.end, sleep(PATIENCE_MS)]);
      const { settledAfterMs } = watched;
      const after =
        settledAfterMs === null ? `going on after ${PATIENCE_MS} ms` : `over after ${settledAfterMs} ms`;
      return { value: settledAfterMs ?? Infinity, words: `${after}, ${times.length} attempts` };
    },
  );
}

/** A server that stays down, 20 calls one after the other: the mean wait before a repeat, in ms. */
function waits(get: (url: string) => Promise<unknown>): Promise<Seen> {
  return serving(
    () => 503,
    async (url, times) => {
      const gaps: number[] = [];
      for (let call = 0; call < CLIENTS; call++) {
        times.length = 0;
        await get(url).catch(() => {});
        for (let i = 1; i < times.length; i++) gaps.push((times[i] as number) - (times[i - 1] as number));
      }
      const value = Math.round(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length);
      return { value, words: `${value} ms between attempts, on average` };
    },
  );
}

/** Gets with undici's RetryAgent, as it is. */
async function byRetryAgent(url: string): Promise<unknown> {
  const agent = new RetryAgent(new Agent());
  const { body } = await request(url, { dispatcher: agent });
  return body.text();
}

async function byAxios(url: string): Promise<unknown> {
  const client = axios.create();
  axiosRetry(client);
  return client.get(url);
}

/** Gets with retries; each call is another client's, with a budget of its own. */
function byPlimsoll(
  retry: Parameters<ReturnType<typeof dependency>["operation"]>[1],
): (url: string) => Promise<unknown> {
  return (url) => {
    const get = dependency({ name: "peer" }).operation("get", { idempotent: true, ...retry });
    return get((attempt) => fetch(url, attempt).then((response) => response.text()));
  };
}

/** What retries do. */
export const REPEATS: readonly Defect[] = [
  {
    tries: "the caller leaves 20 ms into a backoff of 300 ms",
    right: "answered at once, with no further attempt",
    peer: "cockatiel",
    holds: (faults) => faults === 0,
    atPeer: () => {
      const backoff = new cockatiel.ConstantBackoff(300);
      const policy = cockatiel.retry(cockatiel.handleAll, { maxAttempts: 2, backoff });
      return leaves((work, signal) => policy.execute(work, signal));
    },
    atPlimsoll: () => {
      const retry = { attempts: 3, backoff: constant(300) };
      const call = dependency({ name: "peer" }).operation("call", { idempotent: true, retry });
      return leaves((work, signal) => call(work, { signal }));
    },
  },
  {
    tries: "100 ms for the whole call, attempts of 400 ms",
    right: "answered when the time is over",
    peer: "p-retry",
    holds: (ms) => ms < 300,
    atPeer: () => takes((work) => pRetry(work, { maxRetryTime: 100 })),
    atPlimsoll: () => {
      const call = dependency({ name: "peer" }).operation("call", {
        idempotent: true,
        totalTimeoutMs: 100,
        retry: {},
      });
      return takes((work) => call(work));
    },
  },
  {
    tries: "20 clients get a 503 together, base wait 500 ms",
    right: "they come back spread out: at most half within 50 ms",
    peer: "undici",
    holds: (most) => most <= CLIENTS / 2,
    atPeer: () => together(byRetryAgent),
    atPlimsoll: () => together(byPlimsoll({ retry: { attempts: 6, backoff: fullJitter({ baseMs: 500 }) } })),
  },
  {
    tries: "a server that stays at 503, the library's defaults",
    right: "the caller hears of it within 9 s",
    peer: "undici",
    holds: (ms) => ms < PATIENCE_MS,
    atPeer: () => givesUp(byRetryAgent),
    atPlimsoll: () => givesUp(byPlimsoll({ retry: {} })),
  },
  {
    tries: "a server that stays at 503, the library's defaults: the waits",
    right: "it is left alone for a while: 20 ms and more",
    peer: "axios-retry",
    holds: (ms) => ms >= 20,
    atPeer: () => waits(byAxios),
    atPlimsoll: () => waits(byPlimsoll({ retry: {} })),
  },
];
