// A scenario for each guard, whose outcomes do not depend on how fast anything is: what must be slow never ends.
import { constant, fixed, fullJitter } from "../../src/core/index.ts";
import { fault } from "../lib/lab.ts";
import type { Act, Scenario } from "./worlds.ts";

const gives =
  (value: unknown, afterMs = 0): Act =>
  async (_attempt, { sleep }) => {
    if (afterMs > 0) await sleep(afterMs);
    return value;
  };
const throws =
  (error: unknown, afterMs = 0): Act =>
  async (_attempt, { sleep }) => {
    if (afterMs > 0) await sleep(afterMs);
    throw error;
  };
const hangs: Act = (_attempt, { forever }) => forever();
/** Ends as soon as it is given up. */
const obeys: Act = (attempt) =>
  new Promise((_resolve, reject) => attempt.onAbort((reason) => reject(reason as Error)));
const atOnce: Act = () => "at once";

const transient = fault("transient");

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "no guard": {
    operation: {},
    run: async ({ call }) => [
      await call(atOnce),
      await call(gives("later", 5)),
      await call(throws(fault("permanent"))),
      await call(() => {
        throw new TypeError("a fault of the program");
      }),
    ],
  },
  timeout: {
    operation: { attemptTimeoutMs: 30 },
    run: async ({ call }) => [await call(atOnce), await call(hangs), await call(obeys)],
  },
  deadline: {
    operation: { totalTimeoutMs: 40, idempotent: true, retry: { backoff: constant(10_000) } },
    run: async ({ call }) => [await call(hangs), await call(throws(transient))],
  },
  retry: {
    operation: { idempotent: true, retry: { backoff: fullJitter({ baseMs: 4 }) } },
    run: async ({ call }) => [
      await call([throws(transient), throws(transient, 2), gives("third")]),
      await call(throws(transient)),
      await call([throws(fault("throttling", { pushback: "never" })), gives("not asked")]),
      await call([throws(fault("permanent")), gives("not asked")]),
    ],
  },
  "retry of a write": {
    operation: { retry: { backoff: constant(1) } },
    run: async ({ call }) => [
      await call([throws(transient), gives("not asked")]),
      await call([throws(fault("transient", { effect: "none", ended: "unsent" })), gives("safe to repeat")]),
    ],
  },
  budget: {
    dependency: { budget: { ratio: 0, burst: 1 } },
    operation: { idempotent: true, retry: { backoff: constant(1) } },
    run: async ({ call }) => [await call(throws(transient)), await call(throws(transient))],
  },
  breaker: {
    operation: { breaker: { window: { calls: 2 }, openMs: 20, reopen: fixed(), probes: 1 } },
    run: async ({ call, sleep }) => {
      const opened = [await call(throws(transient)), await call(throws(transient)), await call(atOnce)];
      await sleep(25);
      return [...opened, await call(gives("probe", 1)), await call(atOnce)];
    },
  },
  bulkhead: {
    dependency: { bulkhead: { limit: 1, queue: { maxWaiting: 1, maxWaitMs: 10_000 } } },
    operation: {},
    run: async ({ call }) => {
      const calls = ["first", "second", "third"].map((name) => call(gives(name, 5)));
      return Promise.all(calls);
    },
  },
  hedge: {
    operation: { idempotent: true, hedge: { delayMs: 5 } },
    run: async ({ call, sleep }) => [
      await call([hangs, gives("hedge", 1)]),
      await call([obeys, throws(transient, 1), gives("not asked")], {
        cancel: sleep(20).then(() => "gone"),
      }),
      await call([gives("first at once"), gives("not asked")]),
    ],
  },
  fallback: {
    operation: {
      attemptTimeoutMs: 20,
      totalTimeoutMs: 10_000,
      fallback: { run: (because) => `instead of ${because.kind}`, reserveMs: 10 },
    },
    run: async ({ call }) => [
      await call(atOnce),
      await call(throws(transient)),
      await call(hangs),
      await call(throws(fault("permanent"))),
    ],
  },
  cancel: {
    operation: { idempotent: true, attemptTimeoutMs: 10_000, retry: { backoff: constant(10_000) } },
    run: async ({ call, sleep }) => [
      await call(hangs, { cancel: sleep(5).then(() => "in flight") }),
      await call(throws(transient), { cancel: sleep(5).then(() => "in its backoff") }),
    ],
  },
  "all of them": {
    dependency: { bulkhead: { limit: 2, queue: { maxWaiting: 2, maxWaitMs: 10_000 } }, budget: { burst: 3 } },
    operation: {
      idempotent: true,
      attemptTimeoutMs: 10_000,
      totalTimeoutMs: 20_000,
      retry: { attempts: 2, backoff: fullJitter({ baseMs: 5 }) },
      breaker: { window: { calls: 6 }, failureRate: 1, openMs: 10_000, reopen: fixed() },
      fallback: () => "substitute",
    },
    run: async ({ call }) => {
      const together = await Promise.all([
        call([throws(transient, 1), gives("second", 1)]),
        call(gives("whole", 2)),
        call(gives("waited", 1)),
        call(gives("waited too", 1)),
        call(gives("not asked")),
      ]);
      const failing = [];
      for (let i = 0; i < 4; i++) failing.push(await call(throws(transient)));
      return [...together, ...failing];
    },
  },
};
