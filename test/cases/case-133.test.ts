// Case 133: nonsense settings accepted. Every number of every guard is tried with every kind of nonsense.
import { expect, it } from "vitest";
import {
  AdaptiveThrottle,
  Backoff,
  BreakerPolicy,
  breaker,
  bulkhead,
  CoalescePolicy,
  DeadlineGuard,
  DependencyPolicy,
  deadline,
  fallback,
  Gate,
  type Guard,
  growing,
  hedge,
  jittered,
  OptionError,
  PartialBreaker,
  RetryBudget,
  retry,
  Stack,
  TokenBucket,
  timeout,
} from "../../src/core/index.ts";
import { AdmissionQueue } from "../../src/core/queue/machine.ts";
import { VirtualRuntime } from "../../src/testing/index.ts";

/** The live delay of a hedge has a default for each of its options. */
const EMPTY = {};

const nonsense: readonly unknown[] = [
  Number.NaN,
  Infinity,
  -Infinity,
  -1,
  -0.5,
  0,
  "100",
  "",
  null,
  true,
  EMPTY,
  1e12,
  2 ** 31,
  1.5,
];

/** Builds with one number replaced, names the field, and lists the nonsense that has a documented meaning there. */
interface Numeric {
  readonly field: string;
  build(value: never): unknown;
  readonly means?: readonly unknown[];
}

const runtime = new VirtualRuntime();
const stack = (guard: Guard): Stack =>
  new Stack({ runtime, dependency: "stock", operation: "view", idempotent: true, perform: () => {} }, [
    guard,
  ]);
const policy = (options: object, shared: object = {}): unknown =>
  new DependencyPolicy({ name: "stock", ...shared }, runtime, () => {}).operation("view", {
    idempotent: true,
    ...options,
  });

const numbers: readonly Numeric[] = [
  { field: "attemptTimeoutMs", build: (v) => timeout(v), means: [1.5] },
  { field: "totalTimeoutMs", build: (v) => deadline(v), means: [1.5] },
  { field: "totalTimeoutMs", build: (v) => new DeadlineGuard(v), means: [1.5] },
  { field: "retry.attempts", build: (v) => stack(retry({ attempts: v })) },
  {
    field: "retry.backoff.delayMs",
    build: (v) => stack(retry({ backoff: { kind: "constant", delayMs: v } })),
    means: [0, 1.5],
  },
  ...(["fullJitter", "equalJitter", "exponential", "decorrelatedJitter"] as const).flatMap(
    (kind): Numeric[] => [
      { field: "backoff.baseMs", build: (v) => new Backoff({ kind, baseMs: v }), means: [1.5] },
      { field: "backoff.capMs", build: (v) => new Backoff({ kind, capMs: v }), means: [1.5] },
    ],
  ),
  { field: "backoff.factor", build: (v) => new Backoff({ kind: "exponential", factor: v }), means: [1.5] },
  { field: "budget.ratio", build: (v) => new RetryBudget({ ratio: v }), means: [0] },
  { field: "budget.burst", build: (v) => new RetryBudget({ burst: v }), means: [0] },
  { field: "hedge.delayMs", build: (v) => stack(hedge({ delayMs: v })), means: [1.5, EMPTY] },
  {
    field: "fallback.reserveMs",
    build: (v) => stack(fallback({ run: () => 1, reserveMs: v })),
    means: [0, 1.5],
  },
  {
    field: "fallback.timeoutMs",
    build: (v) => stack(fallback({ run: () => 1, timeoutMs: v })),
    means: [1.5],
  },
  { field: "limit", build: (v) => new Gate(v) },
  { field: "limit", build: (v) => new Gate(1).resize(v) },
  { field: "bulkhead.limit", build: (v) => stack(bulkhead({ limit: v })) },
  {
    field: "bulkhead.reclaimAbandonedAfterMs",
    build: (v) => stack(bulkhead({ limit: 1, reclaimAbandonedAfterMs: v })),
    means: [Infinity, 1.5],
  },
  {
    field: "bulkhead.queue.maxWaiting",
    build: (v) => stack(bulkhead({ limit: 1, queue: { maxWaiting: v } })),
    means: [Infinity, 0, 1e12, 2 ** 31],
  },
  {
    field: "queue.maxWaiting",
    build: (v) => new AdmissionQueue({ maxWaiting: v }),
    means: [Infinity, 0, 1e12, 2 ** 31],
  },
  { field: "queue.maxWaitMs", build: (v) => new AdmissionQueue({ maxWaitMs: v }), means: [Infinity, 0, 1.5] },
  {
    field: "queue.maxBytes",
    build: (v) => new AdmissionQueue({ maxBytes: v }),
    means: [Infinity, 0, 1e12, 2 ** 31, 1.5],
  },
  { field: "breaker.window.calls", build: (v) => new BreakerPolicy({ window: { calls: v } }) },
  { field: "breaker.window.ms", build: (v) => new BreakerPolicy({ window: { ms: v } }) },
  { field: "breaker.minimumCalls", build: (v) => new BreakerPolicy({ minimumCalls: v }) },
  {
    field: "breaker.minimumCalls",
    build: (v) => new BreakerPolicy({ window: { ms: 1000 }, minimumCalls: v }),
  },
  { field: "breaker.failureRate", build: (v) => new BreakerPolicy({ failureRate: v }) },
  { field: "breaker.openMs", build: (v) => new BreakerPolicy({ openMs: v }), means: [1.5] },
  { field: "breaker.probes", build: (v) => new BreakerPolicy({ probes: v }) },
  { field: "breaker.probeTimeoutMs", build: (v) => new BreakerPolicy({ probeTimeoutMs: v }), means: [1.5] },
  { field: "breaker.probeLeaseMs", build: (v) => new BreakerPolicy({ probeLeaseMs: v }), means: [1.5] },
  { field: "breaker.reopen.jitter", build: (v) => new BreakerPolicy({ reopen: jittered(v) }), means: [0] },
  {
    field: "breaker.reopen.factor",
    build: (v) => new BreakerPolicy({ reopen: growing({ factor: v }) }),
    means: [1.5],
  },
  {
    field: "breaker.reopen.maxMs",
    build: (v) => new BreakerPolicy({ openMs: 1, reopen: growing({ maxMs: v }) }),
    means: [1.5],
  },
  { field: "breaker.window.calls", build: (v) => stack(breaker({ window: { calls: v } })) },
  { field: "stock.view.attemptTimeoutMs", build: (v) => policy({ attemptTimeoutMs: v }), means: [1.5] },
  { field: "stock.view.totalTimeoutMs", build: (v) => policy({ totalTimeoutMs: v }), means: [1.5] },
  { field: "stock.view.minUsefulMs", build: (v) => policy({ minUsefulMs: v }), means: [0, 1.5] },
  { field: "stock.view.retry.attempts", build: (v) => policy({ retry: { attempts: v } }) },
  { field: "stock.view.hedge.delayMs", build: (v) => policy({ hedge: { delayMs: v } }), means: [1.5, EMPTY] },
  { field: "stock.view.breaker.openMs", build: (v) => policy({ breaker: { openMs: v } }), means: [1.5] },
  { field: "stock.view.bulkhead.limit", build: (v) => policy({ bulkhead: { limit: v } }) },
  {
    field: "stock.view.fallback.timeoutMs",
    build: (v) => policy({ fallback: { run: () => 1, timeoutMs: v } }),
    means: [1.5],
  },
  { field: "stock.budget.ratio", build: (v) => policy({}, { budget: { ratio: v } }), means: [0] },
  { field: "rateLimit.limit", build: (v) => new TokenBucket({ limit: v }), means: [1.5] },
  {
    field: "rateLimit.windowMs",
    build: (v) => new TokenBucket({ limit: 1, windowMs: v }),
    means: [1e12, 2 ** 31, 1.5],
  },
  { field: "rateLimit.burst", build: (v) => new TokenBucket({ limit: 1, burst: v }), means: [1.5] },
  { field: "adaptiveThrottle.k", build: (v) => new AdaptiveThrottle({ k: v }, 0), means: [1.5] },
  { field: "adaptiveThrottle.windowMs", build: (v) => new AdaptiveThrottle({ windowMs: v }, 0) },
  {
    field: "adaptiveThrottle.maxRefused",
    build: (v) => new AdaptiveThrottle({ maxRefused: v }, 0),
    means: [0],
  },
  {
    field: "partialBreaker.usualFailureRate",
    build: (v) => new PartialBreaker({ usualFailureRate: v }, 0),
    means: [0],
  },
  {
    field: "partialBreaker.intervalMs",
    build: (v) => new PartialBreaker({ intervalMs: v }, 0),
    means: [1.5],
  },
  { field: "coalesce.maxWaiting", build: (v) => new CoalescePolicy({ maxWaiting: v }) },
  {
    field: "coalesce.shareFailuresMs",
    build: (v) => new CoalescePolicy({ shareFailuresMs: v }),
    means: [0, 1.5],
  },
  { field: "hedge.attempts", build: (v) => stack(hedge({ delayMs: 1, attempts: v })) },
  { field: "hedge.quietMs", build: (v) => stack(hedge({ delayMs: 1, quietMs: v })), means: [0, 1.5] },
  { field: "breaker.slowCallMs", build: (v) => new BreakerPolicy({ slowCallMs: v }), means: [1.5] },
  { field: "breaker.consecutiveFailures", build: (v) => new BreakerPolicy({ consecutiveFailures: v }) },
  { field: "breaker.rampMs", build: (v) => new BreakerPolicy({ rampMs: v }), means: [0, 1.5] },
  { field: "stock.bulkhead.limit", build: (v) => policy({}, { bulkhead: { limit: v } }) },
];

it.each(numbers.map((number) => [number.field, number] as const))(
  "case 133: %s refuses nonsense by name, or gives it a documented meaning",
  (field, { build, means = [] }) => {
    for (const value of nonsense) {
      let thrown: unknown = null;
      try {
        build(value as never);
      } catch (error) {
        thrown = error;
      }
      const label = `${field} = ${String(value)}`;
      if (means.includes(value)) expect(thrown, label).toBeNull();
      else {
        expect(thrown, label).toBeInstanceOf(OptionError);
        expect((thrown as OptionError).field, label).toBe(field);
      }
    }
  },
);

it.each([
  ["retry", { retry: null }],
  ["retry.backoff", { retry: { backoff: null } }],
  ["retry.backoff", { retry: { backoff: "fullJitter" } }],
  ["retry.backoff.kind", { retry: { backoff: { kind: "random" } } }],
  ["retry.backof", { retry: { backof: 1 } }],
  ["breaker", { breaker: null }],
  ["breaker.perKey", { breaker: { perKey: null } }],
  ["rateLimit", { rateLimit: null }],
  ["rateLimit.cost", { rateLimit: { limit: 1, cost: null } }],
  ["partialBreaker", { partialBreaker: null }],
  ["bulkhead.perKey", { bulkhead: { limit: 1, perKey: null } }],
  ["bulkhead.holds", { bulkhead: { limit: 1, holds: null } }],
  ["rateLimit.perKey", { rateLimit: { limit: 1, perKey: null } }],
  ["adaptiveThrottle", { adaptiveThrottle: null }],
  ["coalesce", { coalesce: null }],
  ["decides", { decides: null }],
  ["bulkhead.limit.kind", { bulkhead: { limit: { kind: null } } }],
  ["breaker.window", { breaker: { window: null } }],
  ["breaker.window", { breaker: { window: {} } }],
  ["breaker.window", { breaker: { window: { calls: 1, ms: 10 } } }],
  ["breaker.reopen", { breaker: { reopen: null } }],
  ["breaker.mode", { breaker: { mode: null } }],
  ["breaker.throttling", { breaker: { throttling: null } }],
  ["breaker.localRefusals", { breaker: { localRefusals: null } }],
  ["bulkhead", { bulkhead: null }],
  ["bulkhead.queue", { bulkhead: { limit: 1, queue: null } }],
  ["hedge", { hedge: null }],
  ["fallback", { fallback: null }],
  ["fallback.run", { fallback: { run: "x" } }],
  ["fallback.permanent", { fallback: { run: () => 1, permanent: null } }],
  ["classify", { classify: null }],
  ["idempotent", { idempotent: null }],
  ["idempotent", { idempotent: "yes" }],
  ["timeoutMs", { timeoutMs: 100 }],
])("case 133: what is no number is refused by name too: %s", (field, options) => {
  let thrown: unknown = null;
  try {
    policy(options);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(OptionError);
  expect((thrown as OptionError).field).toBe(`stock.view.${field}`);
});
