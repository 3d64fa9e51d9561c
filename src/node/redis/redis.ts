/** A Redis as a dependency: the client is the user's, and every guard is the kernel's. */
import type { Attempt } from "../../core/attempt.ts";
import type { KeyedBreakers } from "../../core/breaker/guard.ts";
import type { CircuitBreaker } from "../../core/breaker/machine.ts";
import type { Outcome } from "../../core/call.ts";
import { checkObject } from "../../core/options.ts";
import type { OperationOptions } from "../../core/policy-options.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { CallOptions } from "../../facade/call-options.ts";
import { type Dependency, dependency, type Operation, type WithFallback } from "../../facade/dependency.ts";
import { adapted } from "../adapted.ts";
import { plugNode } from "../host.ts";
import { nodeRuntime } from "../runtime.ts";
import { Door } from "./door.ts";
import { lend, type RedisWork } from "./lease.ts";
import { checkClient, checkOffline, type GuardedRedisOptions, type RedisClient } from "./options.ts";

/** A guarded operation on a Redis: call it with your work. `F` is what its fallback gives. */
export interface RedisOperation<F, C> {
  /** Runs the work, with the client, under the operation's guards. Rejects with the work's own error. */
  <T>(work: RedisWork<T, C>, options?: CallOptions): Promise<T | F>;
  /** The same without throwing, and it tells a whole answer from a degraded one. Rejects only if cancelled. */
  outcome<T>(work: RedisWork<T, C>, options?: CallOptions): Promise<Outcome<T | F>>;
  /** Its breaker's state, to look at or to force; null without one, and where there is one for each key. */
  readonly breaker: CircuitBreaker | null;
  /** Its breakers by key; null without them. */
  readonly breakers: KeyedBreakers | null;
  /** Attempts that were given up and still wait for replies. */
  readonly abandoned: number;
}

/** A Redis, guarded. */
export interface GuardedRedis<C extends RedisClient> {
  readonly name: string;
  /** The dependency that it is: its bulkhead, budget, quota and throttle. */
  readonly dependency: Dependency;
  /** The client that it was given, for what needs no guards: `quit()`, events. */
  readonly client: C;
  /** Attempts that wait for the client to be connected. */
  readonly waiting: number;
  /** Makes a guarded operation. Throws an `OptionError` that names the field for a wrong option. */
  operation<F = never>(name: string, options: WithFallback<F>): RedisOperation<F, C>;
  operation(name: string, options?: OperationOptions): RedisOperation<never, C>;
}

/**
 * Guards a client of ioredis that was made with `NO_REPEATS`. Throws an `OptionError` for a wrong option, and for a
 * client that keeps or repeats commands by itself: its options are not changed behind the back of who else uses it.
 */
export function guardedRedis<C extends RedisClient>(
  client: C,
  options: GuardedRedisOptions,
  runtime: Runtime = nodeRuntime,
): GuardedRedis<C> {
  checkClient(client);
  checkObject("guardedRedis", options);
  const { offline = {}, ...shared } = options;
  const bounds = checkOffline(offline);
  plugNode();
  const redis = dependency(shared, runtime);
  const door = new Door(client, bounds, runtime);
  return {
    name: redis.name,
    dependency: redis,
    client,
    get waiting() {
      return door.waiting;
    },
    operation: (name: string, settings: OperationOptions = {}) =>
      adapted(
        redis.operation(name, settings) as Operation<unknown, true>,
        (work: RedisWork<unknown, C>) => (attempt: Attempt) => lend(door, attempt, work),
      ) as RedisOperation<never, C>,
  } as GuardedRedis<C>;
}
