/** The shape of a system file, for zod: what `types.ts` says, with the ranges. Messages name what is allowed. */
import { z } from "zod";
import { adaptiveThrottle, budget, bulkhead, guards, queue, rateLimit } from "./guard-schema.ts";
import { bool, ms, name, named, oneOf, range, share, whole } from "./numbers.ts";

const call = named(/^[A-Za-z0-9][A-Za-z0-9_-]*\.[A-Za-z0-9][A-Za-z0-9_-]*$/, "a call as service.operation");
const edgeName = named(
  /^[A-Za-z0-9][A-Za-z0-9_-]* -> [A-Za-z0-9][A-Za-z0-9_-]*$/,
  "an edge as caller -> callee",
);

const duration = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({ kind: z.literal("fixed"), ms }),
    z.strictObject({ kind: z.literal("exponential"), meanMs: range(0, 86_400_000) }),
  ],
  { error: 'kind "fixed" with ms, or "exponential" with meanMs' },
);

const edge = z.strictObject({
  wire: z.strictObject({
    deadline: oneOf("none", "attempt", "request"),
    marginMs: ms.optional(),
    cancel: bool,
    unavailable: oneOf("retryable", "final"),
    late: oneOf("retryable", "final").optional(),
  }),
  bulkhead: bulkhead.optional(),
  rateLimit: rateLimit.optional(),
  adaptiveThrottle: adaptiveThrottle.optional(),
  budget: budget.optional(),
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
    z.strictObject({ kind: z.literal("stall"), edge: edgeName, probability: share, ms }),
  ],
  { error: 'kind "slow", "cancelsLost" or "stall"' },
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
