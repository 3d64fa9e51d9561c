/**
 * What is measured by `npm run bench -- call`: the same work under each library's guards.
 *
 * A case is a function that makes one call and returns its promise, and a check that the guards were in the state
 * in which they should be: a breaker that has opened on the way would make its success look free.
 */
import * as cockatiel from "cockatiel";
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";
import * as Semaphore from "effect/Semaphore";
import CircuitBreaker from "opossum";
import { type Attempt, dependency, type OperationOptions } from "plimsoll";

/** What a call is, for the table. */
export type Kind = "success" | "touched" | "refusal" | "thrown" | "failure";

/** One thing to measure. */
export interface Case {
  readonly subject: string;
  readonly kind: Kind;
  readonly guards: string;
  prepare(): Promise<Prepared> | Prepared;
}

/** A case that is ready to run. */
export interface Prepared {
  call(): Promise<unknown>;
  /** Throws if the guards are not as they should be. Called before and after the measurement. */
  check(): void;
}

const work = async (): Promise<number> => 1;
const failure = new Error("the dependency failed");
const failing = async (): Promise<number> => {
  throw failure;
};
const touching = async ({ signal }: { signal: AbortSignal }): Promise<number> =>
  signal === undefined ? 0 : 1;
const never = (): Promise<never> => new Promise(() => {});

const ALL = "timeout + retry/budget + breaker + bulkhead";
const POLICY: OperationOptions = {
  idempotent: true,
  attemptTimeoutMs: 1_000,
  totalTimeoutMs: 2_000,
  retry: { attempts: 2 },
  breaker: { window: { calls: 20 }, probeTimeoutMs: 1_000 },
};

function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(`this benchmark is not what it says: ${what}`);
}

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

/** Awaits a rejection as its users do. */
async function caught(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    return error;
  }
}

const cockatielRetry = () =>
  cockatiel.retry(cockatiel.handleAll, { maxAttempts: 1, backoff: new cockatiel.ConstantBackoff(0) });
const cockatielBreaker = (halfOpenAfter = 3_600_000) =>
  cockatiel.circuitBreaker(cockatiel.handleAll, {
    halfOpenAfter,
    breaker: new cockatiel.CountBreaker({ threshold: 0.5, size: 20 }),
  });

function cockatielAll(strategy: cockatiel.TimeoutStrategy) {
  const breaker = cockatielBreaker();
  const policy = cockatiel.wrap(
    cockatielRetry(),
    breaker,
    cockatiel.bulkhead(10),
    cockatiel.timeout(1_000, strategy),
  );
  const check = (): void =>
    assert(breaker.state === cockatiel.CircuitState.Closed, "cockatiel's breaker is not closed");
  return { policy, check };
}

const COCKATIEL: Case[] = [
  ...[cockatiel.TimeoutStrategy.Cooperative, cockatiel.TimeoutStrategy.Aggressive].map(
    (strategy): Case => ({
      subject: "cockatiel",
      kind: "success",
      guards: `retry + breaker + bulkhead + timeout (${strategy === cockatiel.TimeoutStrategy.Aggressive ? "aggressive" : "cooperative"})`,
      prepare: () => {
        const { policy, check } = cockatielAll(strategy);
        return { call: () => policy.execute(work), check };
      },
    }),
  ),
  {
    subject: "cockatiel",
    kind: "touched",
    guards: "retry + breaker + bulkhead + timeout (cooperative)",
    prepare: () => {
      const { policy, check } = cockatielAll(cockatiel.TimeoutStrategy.Cooperative);
      return { call: () => policy.execute(touching), check };
    },
  },
  {
    subject: "cockatiel",
    kind: "thrown",
    guards: "breaker, open",
    prepare: async () => {
      const breaker = cockatielBreaker();
      for (let i = 0; i < 30; i++) await caught(breaker.execute(failing));
      const check = (): void =>
        assert(breaker.state === cockatiel.CircuitState.Open, "cockatiel's breaker is not open");
      return { call: () => caught(breaker.execute(work)), check };
    },
  },
];

const OPOSSUM: Case[] = [
  {
    subject: "opossum",
    kind: "success",
    guards: "breaker + timeout + capacity",
    prepare: () => {
      const breaker = new CircuitBreaker(work, { timeout: 1_000, capacity: 10 });
      return {
        call: () => breaker.fire(),
        check: () => assert(breaker.closed, "opossum's breaker is not closed"),
      };
    },
  },
  {
    subject: "opossum",
    kind: "thrown",
    guards: "breaker, open",
    prepare: () => {
      const breaker = new CircuitBreaker(work, { timeout: 1_000, resetTimeout: 3_600_000 });
      breaker.open();
      return {
        call: () => caught(breaker.fire()),
        check: () => assert(breaker.opened, "opossum's breaker is not open"),
      };
    },
  },
  {
    subject: "opossum",
    kind: "failure",
    guards: "breaker + timeout, 1,000 latencies in the window",
    prepare: async () => {
      const options = {
        timeout: 1_000,
        errorThresholdPercentage: 100,
        volumeThreshold: Number.MAX_SAFE_INTEGER,
      };
      const breaker = new CircuitBreaker((fails: boolean) => (fails ? failing() : work()), options);
      for (let i = 0; i < 1_000; i++) await breaker.fire(false);
      return {
        call: () => caught(breaker.fire(true)),
        check: () => assert(breaker.closed, "opossum's breaker is not closed"),
      };
    },
  },
];

const EFFECT: Case[] = [
  {
    subject: "effect",
    kind: "success",
    guards: "retry + semaphore + timeout",
    prepare: () => {
      const semaphore = Semaphore.makeUnsafe(10);
      const program = Effect.promise(work).pipe(
        Effect.timeout("1 second"),
        semaphore.withPermits(1),
        Effect.retry(Schedule.recurs(1)),
      );
      return { call: () => Effect.runPromise(program), check: () => {} };
    },
  },
];

/** All cases, in the order of the table. */
export const CASES: readonly Case[] = [...PLIMSOLL, ...COCKATIEL, ...OPOSSUM, ...EFFECT];

/** What everything is compared with. */
export const BARE = {
  call: work,
  failure: () => caught(failing()),
};
