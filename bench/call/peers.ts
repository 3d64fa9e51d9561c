/** The same work under the peers' guards. */
import * as cockatiel from "cockatiel";
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";
import * as Semaphore from "effect/Semaphore";
import CircuitBreaker from "opossum";
import { assert, type Case, caught, failing, touching, work } from "./case.ts";

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

/** Every peer's cases. */
export const PEERS: readonly Case[] = [...COCKATIEL, ...OPOSSUM, ...EFFECT];
