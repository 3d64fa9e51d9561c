/** Plimsoll's cases: each guard by itself, the four that most calls need, and calls that are refused or fail. */
import { type Attempt, aimd, dependency, type OperationOptions, stale } from "plimsoll";
import { assert, type Case, caught, failing, type Kind, never, touching, work } from "./case.ts";
import { PEERS } from "./peers.ts";

const ALL = "timeout + retry/budget + breaker + bulkhead";
const POLICY: OperationOptions = {
  idempotent: true,
  attemptTimeoutMs: 1_000,
  totalTimeoutMs: 2_000,
  retry: { attempts: 2 },
  breaker: { window: { calls: 20 }, probeTimeoutMs: 1_000 },
};

function plimsoll(
  options: OperationOptions,
  limit: number | null,
  budget?: { ratio: number; burst: number },
) {
  const stock = dependency({
    name: "bench",
    ...(limit === null ? {} : { bulkhead: { limit } }),
    ...(budget === undefined ? {} : { budget }),
  });
  return stock.operation("call", options);
}

function plimsollCase(kind: Kind, guards: string, prepare: Case["prepare"]): Case {
  return { subject: "plimsoll", kind, guards, prepare };
}

/** Failing calls whose retry is refused at once: the budget is empty, as it is in an outage. */
const EMPTY_BUDGET = { ratio: 0, burst: 0 };

const PLIMSOLL: Case[] = [
  ...(
    [
      ["none", {}, null],
      ["timeout", { attemptTimeoutMs: 1_000 }, null],
      ["breaker", { breaker: { window: { calls: 20 } } }, null],
      ["bulkhead", {}, 10],
      ["retry/budget", { idempotent: true, retry: { attempts: 2 } }, null],
      [ALL, POLICY, 10],
    ] as const
  ).map(([guards, options, limit]) =>
    plimsollCase("success", guards, () => {
      const call = plimsoll(options, limit);
      const closed = (): boolean => call.breaker === null || call.breaker.state.name === "closed";
      return { call: () => call(work), check: () => assert(closed(), "the breaker is not closed") };
    }),
  ),
  ...(
    [
      ["adaptive throttle", { adaptiveThrottle: {} }],
      ["partial breaker", { partialBreaker: {} }],
      ["rate limit", { rateLimit: { limit: 1e9 } }],
      ["breaker of its key", { breaker: { window: { calls: 20 }, perKey: {} } }],
      ["breaker, slow calls", { breaker: { window: { calls: 20 }, slowCallMs: 500 } }],
      ["bulkhead, limit that learns", { bulkhead: { limit: aimd({ initial: 10 }) } }],
      ["coalesce, alone", { idempotent: true, coalesce: {} }],
      ["hedge, not sent", { idempotent: true, hedge: { delayMs: 1_000 } }],
      ["hedge, live percentile", { idempotent: true, hedge: { delayMs: {} } }],
      ["fallback, not needed", { fallback: () => 0 }],
      ["fallback, stale", { fallback: stale({ maxAgeMs: 60_000 }) }],
    ] as const
  ).map(([guards, options]) =>
    plimsollCase("each", guards, () => {
      const call = plimsoll(options, null);
      return { call: () => call(work), check: () => assert(call.abandoned === 0, "work goes on") };
    }),
  ),
  plimsollCase("touched", ALL, () => {
    const call = plimsoll(POLICY, 10);
    return {
      call: () => call(touching as (attempt: Attempt) => Promise<number>),
      check: () => assert(call.breaker?.state.name === "closed", "the breaker is not closed"),
    };
  }),
  ...(["refusal", "thrown"] as const).flatMap((kind) => [
    plimsollCase(kind, "breaker, open", async () => {
      const call = plimsoll(
        { ...POLICY, breaker: { window: { calls: 2 }, openMs: 3_600_000 } },
        10,
        EMPTY_BUDGET,
      );
      for (let i = 0; i < 4; i++) await call.outcome(failing);
      const check = (): void => assert(call.breaker?.state.name === "open", "the breaker is not open");
      return { check, call: kind === "refusal" ? () => call.outcome(work) : () => caught(call(work)) };
    }),
    plimsollCase(kind, "bulkhead, full", () => {
      const call = plimsoll({ idempotent: true, retry: { attempts: 2 } }, 1);
      void call(never);
      const check = (): void => assert(call.breaker === null, "there is a breaker");
      return { check, call: kind === "refusal" ? () => call.outcome(work) : () => caught(call(work)) };
    }),
  ]),
  ...[20, 10_000].map((calls) =>
    plimsollCase("failure", `${ALL}, window of ${calls}`, () => {
      const breaker = { window: { calls }, mode: "observe" } as const;
      const call = plimsoll({ ...POLICY, breaker }, 10, EMPTY_BUDGET);
      return {
        call: () => call.outcome(failing),
        check: () => assert(call.breaker?.mode === "observe", "it refuses"),
      };
    }),
  ),
];

/** All cases, in the order of the table. */
export const CASES: readonly Case[] = [...PLIMSOLL, ...PEERS];
