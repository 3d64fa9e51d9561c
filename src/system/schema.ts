/** The shape of a system file, for zod: what `types.ts` says, with the ranges. Messages name what is allowed. */
import { z } from "zod";

const MAX_MS = 2_147_483_647;

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const CALL = /^[A-Za-z0-9][A-Za-z0-9_-]*\.[A-Za-z0-9][A-Za-z0-9_-]*$/;
const EDGE = /^[A-Za-z0-9][A-Za-z0-9_-]* -> [A-Za-z0-9][A-Za-z0-9_-]*$/;

/** A number in a range, and the sentence that says so. */
function range(min: number, max: number): z.ZodNumber {
  const error = `a number from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
}

function whole(min: number, max: number): z.ZodInt {
  const error = `a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

const named = (pattern: RegExp, error: string) => z.string({ error }).regex(pattern, { error });
const ms = range(0, MAX_MS);
const timeoutMs = range(1, MAX_MS);
const name = named(NAME, "a name of letters, digits, - and _");
const call = named(CALL, "a call as service.operation");
const edgeName = named(EDGE, "an edge as caller -> callee");
const share = range(0, 1);

const orUnbounded = (number: z.ZodType<number>, error: string) =>
  z.union([number, z.literal("unbounded")], { error: `${error}, or "unbounded"` });

const queue = z.strictObject({
  maxWaiting: orUnbounded(whole(0, 1_000_000_000), "a whole number of at least 0"),
  maxWaitMs: orUnbounded(ms, `a number from 0 to ${MAX_MS}`).optional(),
  maxBytes: orUnbounded(range(0, Number.MAX_SAFE_INTEGER), "a number of at least 0").optional(),
});

const duration = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({ kind: z.literal("fixed"), ms }),
    z.strictObject({ kind: z.literal("exponential"), meanMs: range(0, 86_400_000) }),
  ],
  { error: 'kind "fixed" with ms, or "exponential" with meanMs' },
);

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
      factor: range(1, 1_000).optional(),
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

const bulkhead = z.strictObject({
  limit: whole(1, 1_000_000),
  queue: queue.optional(),
  reclaimAbandonedAfterMs: timeoutMs.optional(),
});

const oneOf = <const W extends readonly [string, ...string[]]>(...words: W) =>
  z.enum(words, { error: words.map((word) => `"${word}"`).join(" or ") });

const breaker = z.strictObject({
  window: z
    .union([z.strictObject({ calls: whole(1, 100_000) }), z.strictObject({ ms: range(10, 3_600_000) })], {
      error: "either { calls } (1 to 100000) or { ms } (10 to 3600000)",
    })
    .optional(),
  minimumCalls: whole(1, 1_000_000).optional(),
  failureRate: range(0.000_001, 1).optional(),
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
  probeTimeoutMs: timeoutMs.optional(),
  probeLeaseMs: timeoutMs.optional(),
  throttling: oneOf("failure", "ignored").optional(),
  localRefusals: oneOf("ignored", "failure").optional(),
  mode: oneOf("enforce", "observe", "forcedOpen", "forcedClosed").optional(),
});

const fallback = z.union(
  [
    name,
    z.strictObject({
      run: name,
      reserveMs: ms.optional(),
      timeoutMs: timeoutMs.optional(),
      permanent: z.boolean().optional(),
    }),
  ],
  { error: "the name of a function, or { run, reserveMs, timeoutMs, permanent }" },
);

const guards = z.strictObject({
  idempotent: z.boolean({ error: "true or false" }).optional(),
  attemptTimeoutMs: timeoutMs.optional(),
  totalTimeoutMs: timeoutMs.optional(),
  minUsefulMs: ms.optional(),
  retry: z.strictObject({ attempts: whole(1, 100).optional(), backoff: backoff.optional() }).optional(),
  breaker: breaker.optional(),
  bulkhead: bulkhead.optional(),
  hedge: z.strictObject({ delayMs: timeoutMs }).optional(),
  fallback: fallback.optional(),
});

const edge = z.strictObject({
  wire: z.strictObject({
    deadline: oneOf("none", "attempt", "request"),
    marginMs: ms.optional(),
    cancel: z.boolean({ error: "true or false" }),
    unavailable: oneOf("retryable", "final"),
    late: oneOf("retryable", "final").optional(),
  }),
  bulkhead: bulkhead.optional(),
  budget: z
    .union(
      [z.literal("none"), z.strictObject({ ratio: share.optional(), burst: whole(0, 1_000_000).optional() })],
      { error: '"none", or { ratio (0 to 1), burst (whole, 0 to 1000000) }' },
    )
    .optional(),
  operations: z.record(name, guards),
});

const service = z.strictObject({
  instances: whole(1, 10_000).optional(),
  places: whole(1, 1_000_000).optional(),
  queue: queue.optional(),
  operations: z.record(
    name,
    z.strictObject({
      work: duration.optional(),
      effect: oneOf("read", "write").optional(),
      calls: z.array(call).optional(),
    }),
  ),
});

const second = range(-86_400, 31_536_000);

const fault = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({
      kind: z.literal("slow"),
      service: name,
      factor: range(0.001, 10_000),
      fromS: second,
      toS: second,
    }),
    z.strictObject({ kind: z.literal("cancelsLost"), edge: edgeName }),
  ],
  { error: 'kind "slow" or "cancelsLost"' },
);

/** The schema of a system file. */
export const systemSchema: z.ZodType<unknown> = z.strictObject({
  version: z.literal(1, { error: "1" }),
  name: z.string().min(1, { error: "a name" }),
  description: z.string().optional(),
  workload: z.strictObject({
    from: name,
    actions: z.record(name, z.strictObject({ call, perSecond: range(0, 10_000_000) })),
  }),
  services: z.record(name, service),
  edges: z.record(edgeName, edge),
  faults: z.array(fault).optional(),
});
