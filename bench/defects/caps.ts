/** Caps: work that outlives its timeout, callers who leave the queue, and signals that are never given back. */
import Bottleneck from "bottleneck";
import * as cockatiel from "cockatiel";
import { Bulkhead, Circuit, Timeout } from "mollitia";
import CircuitBreaker from "opossum";
import PQueue from "p-queue";
import { dependency } from "plimsoll";
import { type Defect, deafWork, type Seen, sleep, watch } from "./defect.ts";

const LIMIT_MS = 20;
const CALLS = 5;
const DEAF_MS = 15 * LIMIT_MS;

type Work = () => Promise<void>;

/** Five calls, one after the other, under a cap of 1 and a timeout that the work does not hear of. */
async function running(call: (work: Work) => Promise<unknown>): Promise<Seen> {
  const work = deafWork(DEAF_MS);
  for (let i = 0; i < CALLS; i++) await call(work.run).catch(() => {});
  await sleep(DEAF_MS);
  return { value: work.most, words: `${work.most} ran at once` };
}

/** The same cap, in each library's own words. */
const CAPS: Readonly<Record<string, () => (work: Work) => Promise<unknown>>> = {
  cockatiel: () => {
    const policy = cockatiel.wrap(
      cockatiel.bulkhead(1, CALLS),
      cockatiel.timeout(LIMIT_MS, cockatiel.TimeoutStrategy.Aggressive),
    );
    return (work) => policy.execute(work);
  },
  opossum: () => {
    const options = { capacity: 1, timeout: LIMIT_MS, volumeThreshold: 1_000 };
    const breaker = new CircuitBreaker((work: Work) => work(), options);
    return (work) => breaker.fire(work);
  },
  "p-queue": () => {
    const queue = new PQueue({ concurrency: 1, timeout: LIMIT_MS });
    return (work) => queue.add(work);
  },
  bottleneck: () => {
    const limiter = new Bottleneck({ maxConcurrent: 1 });
    return (work) => limiter.schedule({ expiration: LIMIT_MS }, work);
  },
  mollitia: () => {
    const modules = [new Bulkhead({ concurrentSize: 1, queueSize: CALLS }), new Timeout({ delay: LIMIT_MS })];
    return (work) => new Circuit({ options: { modules } }).fn(work).execute();
  },
};

function plimsollCap(): (work: Work) => Promise<unknown> {
  const peer = dependency({ name: "peer", bulkhead: { limit: 1, queue: { maxWaiting: CALLS } } });
  const call = peer.operation("call", { attemptTimeoutMs: LIMIT_MS, totalTimeoutMs: 2 * LIMIT_MS });
  return (work) => call(work);
}

/** A waiter who leaves the queue, and whether the one behind is let in to wait: 0 is right, each fault counts 1. */
async function leaves(call: (work: Work, signal?: AbortSignal) => Promise<unknown>): Promise<Seen> {
  watch(call(() => sleep(400)));
  const controller = new AbortController();
  const waiter = watch(call(() => sleep(1), controller.signal));
  await sleep(5);
  controller.abort();
  await sleep(100);
  const next = watch(call(() => sleep(1)));
  await sleep(20);
  const pending = waiter.settledAfterMs === null;
  const refused = next.settledAfterMs !== null;
  const words = `${pending ? "pending" : "answered"} 100 ms later, its place in the queue ${refused ? "held" : "free"}`;
  await sleep(400);
  return { value: Number(pending) + Number(refused), words };
}

const SIGNALS = 50_000;

/** What is left on the heap of each signal that is derived from one long-lived signal and dropped, in bytes. */
async function leftOf(use: (parent: AbortSignal) => unknown): Promise<Seen> {
  const parent = new AbortController();
  const heap = async (): Promise<number> => {
    for (let i = 0; i < 3; i++) {
      await sleep(5);
      gc();
    }
    return process.memoryUsage().heapUsed;
  };
  const round = async (): Promise<void> => {
    for (let i = 0; i < SIGNALS; i++) {
      await use(parent.signal);
      if (i % 1_000 === 0) await sleep(0);
    }
  };
  await round(); // whatever is made once is made now
  const before = await heap();
  await round();
  const value = Math.max(0, Math.round(((await heap()) - before) / SIGNALS));
  return { value, words: `${value} bytes a call left` };
}

function touching(): (parent: AbortSignal) => unknown {
  const call = dependency({ name: "peer" }).operation("call", { attemptTimeoutMs: 10_000 });
  return (signal) => call(async (attempt) => void attempt.signal, { signal });
}

/** Without it, what is left is what was not collected yet: that would be no measurement. */
function gc(): void {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc, as npm run bench does");
  globalThis.gc();
}

/** What caps, queues and signals do. */
export const CAPPED: readonly Defect[] = [
  ...Object.entries(CAPS).map(
    ([peer, make]): Defect => ({
      tries: "a cap of 1 and a timeout, work that ignores its signal, 5 calls",
      right: "1 runs at once: what was given up and runs on keeps its place",
      peer,
      holds: (atOnce) => atOnce === 1,
      atPeer: () => running(make()),
      atPlimsoll: () => running(plimsollCap()),
    }),
  ),
  {
    tries: "a caller leaves the queue of a cap",
    right: "answered at once, and the place in the queue is free",
    peer: "cockatiel",
    holds: (faults) => faults === 0,
    atPeer: () => {
      const policy = cockatiel.bulkhead(1, 1);
      return leaves((work, signal) => policy.execute(work, signal));
    },
    atPlimsoll: () => {
      const queue = { maxWaiting: 1, maxWaitMs: 10_000 };
      const call = dependency({ name: "peer", bulkhead: { limit: 1, queue } }).operation("call");
      return leaves((work, signal) => call(work, { signal }));
    },
  },
  {
    tries: "50,000 calls, each with a signal derived from one that lives on",
    right: "nothing is left of them",
    peer: "AbortSignal.any",
    holds: (bytes) => bytes < 20,
    atPeer: () => leftOf((parent) => void AbortSignal.any([parent])),
    atPlimsoll: () => leftOf(touching()),
  },
];
