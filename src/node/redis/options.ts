/** Options of a guarded Redis, and what its client must not do by itself. */
import type { Redis } from "ioredis";
import { OptionError } from "../../core/errors.ts";
import { checkKeys, checkObject } from "../../core/options.ts";
import type { DependencyOptions } from "../../core/policy-options.ts";

/** A client of ioredis for one server, or one found by sentinels. */
export type RedisClient = Redis<"legacy"> | Redis<"resp3"> | Redis<"legacy" | "resp3">;

/** Who may wait while the client is not connected. */
export interface OfflineOptions {
  /** How many attempts may wait: 0 or more, whole, or Infinity if you type it. Default 1,000 (our choice: about 1 MB). */
  readonly maxWaiting?: number;
  /** How long one may wait, in ms, 0 to 2^31 − 1, or Infinity if you type it. Default 1,000 (our choice). */
  readonly maxWaitMs?: number;
}

/** How a Redis is guarded. */
export interface GuardedRedisOptions extends DependencyOptions {
  /** Who may wait while the client is not connected; `{ maxWaiting: 0 }` for nobody. Default `{}`: bounded waits. */
  readonly offline?: OfflineOptions;
}

/**
 * Options for the client: it sends nothing later than it is asked to, and nothing twice. Without them ioredis keeps
 * commands without bound while it is disconnected, and sends unanswered ones again after it has reconnected.
 */
export const NO_REPEATS: {
  readonly enableOfflineQueue: false;
  readonly maxRetriesPerRequest: 0;
  readonly autoResendUnfulfilledCommands: false;
} = { enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false };

/** What a client must leave to the guards besides, and why. */
const NOT_HERE: Readonly<Record<string, string>> = {
  commandTimeout:
    "it gives up a command that is still under way; `attemptTimeoutMs` says how long one may take",
  blockingTimeout:
    "it gives up a command that is still under way; `attemptTimeoutMs` says how long one may take",
  enableAutoPipelining: "it puts commands of several calls into one pipeline; use `pipeline()` within a call",
};

/** Refuses what is no client, and a client that would repeat or keep commands behind the guards' back. */
export function checkClient(client: RedisClient): void {
  if (typeof client?.sendCommand !== "function" || client.isCluster !== false)
    throw new OptionError("guardedRedis.client", client, "a Redis of ioredis, not a Cluster");
  const options = client.options as Record<string, unknown>;
  for (const [key, wanted] of Object.entries(NO_REPEATS)) {
    if (options[key] !== wanted)
      throw new OptionError(
        `client.options.${key}`,
        options[key],
        `${wanted}: new Redis({ ...NO_REPEATS, … })`,
      );
  }
  for (const [key, instead] of Object.entries(NOT_HERE)) {
    if (options[key] !== undefined && options[key] !== false)
      throw new OptionError(`client.options.${key}`, options[key], `nothing: ${instead}`);
  }
}

/** Checks the shape of `offline`; the queue checks its numbers. */
export function checkOffline(offline: OfflineOptions): Required<OfflineOptions> {
  checkObject("guardedRedis.offline", offline);
  checkKeys("guardedRedis.offline", offline, ["maxWaiting", "maxWaitMs"]);
  const { maxWaiting = 1_000, maxWaitMs = 1_000 } = offline;
  return { maxWaiting, maxWaitMs };
}
