/** The guards of a system file, for zod: what `dependency()` and `operation()` take, with their ranges. */
import { z } from "zod";
import { bool, MAX_MS, ms, name, oneOf, orUnbounded, range, share, timeoutMs, whole } from "./numbers.ts";

/** Who may wait for a place. */
export const queue: z.ZodType = z.strictObject({
  maxWaiting: orUnbounded(whole(0, 1_000_000_000), "a whole number of at least 0"),
  maxWaitMs: orUnbounded(ms, `a number from 0 to ${MAX_MS}`).optional(),
  maxBytes: orUnbounded(range(0, Number.MAX_SAFE_INTEGER), "a number of at least 0").optional(),
});

const cut = range(0.1, 0.99).optional();
const bounds = {
  initial: whole(1, 1_000_000).optional(),
  min: whole(1, 1_000_000).optional(),
  max: whole(1, 1_000_000).optional(),
  cut,
};

const limit = z.union(
  [
    whole(1, 1_000_000),
    z.strictObject({ kind: z.literal("aimd"), ...bounds }),
    z.strictObject({
      kind: z.literal("latencyAimd"),
      ...bounds,
      intervalMs: range(10, 3_600_000).optional(),
      minSamples: whole(1, 1_000_000).optional(),
      low: range(1, 100).optional(),
      high: range(1, 1_000).optional(),
      baselineMs: range(0.001, MAX_MS).optional(),
    }),
  ],
  { error: "a whole number from 1 to 1000000, or a limit of kind aimd or latencyAimd" },
);

/** A cap on calls in flight. */
export const bulkhead: z.ZodType = z.strictObject({
  limit,
  maxBytes: range(0, Number.MAX_SAFE_INTEGER).optional(),
  queue: queue.optional(),
  reclaimAbandonedAfterMs: timeoutMs.optional(),
});

/** A quota. */
export const rateLimit: z.ZodType = z.strictObject({
  limit: range(0.000_001, 1e9),
  windowMs: range(1, 1e12).optional(),
  burst: range(0.000_001, 1e9).optional(),
});

/** A caller that refuses a part of its own calls. */
export const adaptiveThrottle: z.ZodType = z.strictObject({
  k: range(1, 100).optional(),
  windowMs: range(10, 3_600_000).optional(),
  maxRefused: range(0, 0.99).optional(),
  rejects: oneOf("overload", "failures").optional(),
});

const part = range(0.001, 1).optional();

/** A breaker that opens as far as the dependency fails. */
const partialBreaker = z.strictObject({
  usualFailureRate: range(0, 0.5).optional(),
  intervalMs: range(1, 360_000).optional(),
  rise: part,
  fall: part,
  maxRefused: range(0.001, 0.999).optional(),
});

/** What repeats may cost. */
export const budget: z.ZodType = z.union(
  [
    z.literal("none"),
    z.strictObject({ ratio: share.optional(), burst: whole(0, 1_000_000).optional() }),
    z.strictObject({ kind: z.literal("grpc"), maxTokens: whole(1, 1_000), tokenRatio: range(0.001, 1_000) }),
    z.strictObject({ kind: z.literal("aws"), version: oneOf("2.1", "legacy").optional() }),
    z.strictObject({
      kind: z.literal("concurrencyShare"),
      share: share.optional(),
      min: whole(0, 1_000_000).optional(),
    }),
    z.strictObject({
      kind: z.literal("windowShare"),
      ratio: share.optional(),
      perSecond: range(0, 1_000_000).optional(),
      windowMs: range(10, 3_600_000).optional(),
    }),
  ],
  {
    error:
      '"none", or { ratio (0 to 1), burst (whole, 0 to 1000000) }, or a kind: grpc, aws, concurrencyShare or windowShare',
  },
);

const hedge = z.strictObject({
  delayMs: z.union(
    [
      ms,
      z.strictObject({
        percentile: range(0.5, 0.999).optional(),
        windowMs: range(10, 86_400_000).optional(),
        minSamples: whole(1, 1_000_000).optional(),
        minMs: ms.optional(),
      }),
    ],
    { error: `a number from 0 to ${MAX_MS}, or { percentile (0.5 to 0.999) }` },
  ),
  attempts: whole(2, 10).optional(),
  quietMs: ms.optional(),
  onFailure: oneOf("stop", "next").optional(),
  tied: bool.optional(),
});

const growth = {
  baseMs: range(0.001, MAX_MS).optional(),
  capMs: range(0.001, MAX_MS).optional(),
};

const backoff = z.discriminatedUnion(
  "kind",
  [
    ...(["fullJitter", "equalJitter", "exponential"] as const).map((kind) =>
      z.strictObject({ kind: z.literal(kind), ...growth, factor: range(1, 1_000).optional() }),
    ),
    z.strictObject({
      kind: z.literal("spread"),
      ...growth,
      factor: range(0.001, 1_000).optional(),
      jitter: share.optional(),
    }),
    ...(["decorrelatedJitter", "envoy"] as const).map((kind) =>
      z.strictObject({ kind: z.literal(kind), ...growth }),
    ),
    z.strictObject({ kind: z.literal("aws"), ...growth, throttlingBaseMs: range(0.001, MAX_MS).optional() }),
    z.strictObject({ kind: z.literal("constant"), delayMs: ms }),
    z.strictObject({ kind: z.literal("none") }),
  ] as never,
  {
    error:
      "kind fullJitter, equalJitter, exponential, spread, decorrelatedJitter, envoy, aws, constant or none",
  },
);

const breaker = z.strictObject({
  window: z
    .union([z.strictObject({ calls: whole(1, 100_000) }), z.strictObject({ ms: range(10, 3_600_000) })], {
      error: "either { calls } (1 to 100000) or { ms } (10 to 3600000)",
    })
    .optional(),
  minimumCalls: whole(1, 1_000_000).optional(),
  failureRate: range(0.000_001, 1).optional(),
  slowCallMs: timeoutMs.optional(),
  slowCallRate: range(0.000_001, 1).optional(),
  consecutiveFailures: whole(1, 100_000).optional(),
  openMs: timeoutMs.optional(),
  reopen: z
    .strictObject({
      kind: oneOf("fixed", "jittered", "growing"),
      jitter: share.optional(),
      factor: range(1, 100).optional(),
      maxMs: timeoutMs.optional(),
    })
    .optional(),
  probes: whole(1, 1_000).optional(),
  rampMs: ms.optional(),
  probeTimeoutMs: timeoutMs.optional(),
  probeLeaseMs: timeoutMs.optional(),
  throttling: oneOf("failure", "ignored").optional(),
  localRefusals: oneOf("ignored", "failure").optional(),
  mode: oneOf("enforce", "observe", "forcedOpen", "forcedClosed").optional(),
  perKey: z
    .strictObject({
      by: oneOf("key", "tenant").optional(),
      maxKeys: whole(2, 10_000_000).optional(),
      idleMs: timeoutMs.optional(),
    })
    .optional(),
});

const ofAllFallbacks = {
  reserveMs: ms.optional(),
  limit: whole(1, 1_000_000).optional(),
  timeoutMs: timeoutMs.optional(),
  permanent: bool.optional(),
  exercise: share.optional(),
};

const fallback = z.union(
  [
    name,
    z.strictObject({ run: name, ...ofAllFallbacks }),
    z.strictObject({
      kind: z.literal("stale"),
      maxAgeMs: timeoutMs,
      maxKeys: whole(2, 10_000_000).optional(),
      ...ofAllFallbacks,
    }),
    z.strictObject({ kind: z.literal("default"), value: z.json(), ...ofAllFallbacks }),
  ],
  {
    error:
      "the name of a function, or { run, reserveMs, timeoutMs, limit, permanent, exercise }, or one of kind stale (maxAgeMs) or default (value)",
  },
);

/** How calls of one operation are guarded. */
export const guards: z.ZodType = z.strictObject({
  idempotent: bool.optional(),
  attemptTimeoutMs: timeoutMs.optional(),
  totalTimeoutMs: timeoutMs.optional(),
  minUsefulMs: ms.optional(),
  retry: z
    .strictObject({
      attempts: whole(1, 100).optional(),
      backoff: backoff.optional(),
      only: oneOf("unsent").optional(),
    })
    .optional(),
  coalesce: z
    .strictObject({
      maxWaiting: whole(1, 1_000_000).optional(),
      maxFlights: whole(1, 1_000_000).optional(),
      shareFailuresMs: range(0, 60_000).optional(),
    })
    .optional(),
  breaker: breaker.optional(),
  partialBreaker: partialBreaker.optional(),
  adaptiveThrottle: adaptiveThrottle.optional(),
  rateLimit: rateLimit.optional(),
  bulkhead: bulkhead.optional(),
  hedge: hedge.optional(),
  fallback: fallback.optional(),
  decides: oneOf("authorization", "integrity").optional(),
});
