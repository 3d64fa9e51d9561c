/**
 * What many guards cost that do nothing: bytes each, timers, and the processor time of a few idle seconds. One for each
 * key, 100,000 keys, in a process of its own.
 */
import * as cockatiel from "cockatiel";
import CircuitBreaker from "opossum";
import { dependency, type OperationOptions } from "plimsoll";
import { work } from "./case.ts";

/** What many of a kind cost. */
export interface Idle {
  readonly count: number;
  readonly bytesEach: number;
  readonly timers: number;
  /** Processor time in idle seconds, as a share of one core. */
  readonly idleShare: number;
}

/** Many guards of a kind. `make` returns what keeps them alive. */
export interface Many {
  readonly subject: string;
  readonly guards: string;
  readonly count: number;
  make(count: number): Promise<unknown>;
}

const IDLE_MS = 3_000;

/** One operation with a guard for each key, every key used once. */
function keyed(guards: string, optionsFor: (perKey: { maxKeys: number }) => OperationOptions): Many {
  return {
    subject: "plimsoll",
    guards,
    count: 100_000,
    make: async (count) => {
      const call = dependency({ name: "bench" }).operation("call", optionsFor({ maxKeys: 4 * count }));
      for (let i = 0; i < count; i++) await call(work, { key: `key ${i}` });
      return call;
    },
  };
}

/** The kinds, in the order of the table. */
export const MANY: readonly Many[] = [
  keyed("breaker, window of 20", (perKey) => ({ breaker: { window: { calls: 20 }, perKey } })),
  keyed("breaker, window of 100", (perKey) => ({ breaker: { perKey } })),
  keyed("rate limit", (perKey) => ({ rateLimit: { limit: 100, perKey } })),
  keyed("bulkhead", (perKey) => ({ bulkhead: { limit: 10, perKey } })),
  {
    subject: "cockatiel",
    guards: "breaker, count of 20",
    count: 100_000,
    make: async (count) => {
      const breakers = Array.from({ length: count }, () =>
        cockatiel.circuitBreaker(cockatiel.handleAll, {
          halfOpenAfter: 5_000,
          breaker: new cockatiel.CountBreaker({ threshold: 0.5, size: 20 }),
        }),
      );
      for (const breaker of breakers) await breaker.execute(work);
      return breakers;
    },
  },
  {
    subject: "opossum",
    guards: "breaker",
    count: 20_000,
    make: async (count) => {
      const breakers = Array.from({ length: count }, () => new CircuitBreaker(work));
      for (const breaker of breakers) await breaker.fire();
      return breakers;
    },
  },
];

/** Makes them, and waits. */
export async function measureIdle({ count, make }: Many): Promise<Idle> {
  await make(100); // compiled, and whatever is made once is made
  const timersBefore = timers();
  const before = heap();
  const kept = await make(count);
  const bytesEach = Math.round((heap() - before) / count);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const timersMade = timers() - timersBefore;
  const from = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const { user, system } = process.cpuUsage(from);
  if (kept === undefined) throw new Error("nothing was kept");
  return { count, bytesEach, timers: timersMade, idleShare: (user + system) / 1_000 / IDLE_MS };
}

function heap(): number {
  for (let i = 0; i < 4; i++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
}
