/** Options of a guarded pool, checked when it is made. */
import type { ClientConfig } from "pg";
import type { BudgetSpec } from "../../core/budget/presets.ts";
import { OptionError } from "../../core/errors.ts";
import { checkKeys, checkMs, checkNumber, checkObject, orDefault } from "../../core/options.ts";
import type { QueueOptions } from "../../core/queue/machine.ts";

/** How a database is guarded. */
export interface GuardedPoolOptions {
  /** Names the database in errors and events; not empty. */
  readonly name: string;
  /** Where the database is, and as whom: pg's own options of a client. `pg` reads `PGHOST` and its like as always. */
  readonly connection: ClientConfig;
  /** Connections at most, and so calls in flight, 1 to 10,000, whole. No default: it must be measured. */
  readonly size: number;
  /** Who may wait for a connection. Default: nobody. */
  readonly queue?: QueueOptions;
  /** What retries and hedges spend. Default: 10 % and a burst of 10, or of `size` where that is more. */
  readonly budget?: BudgetSpec | "none";
  /** How long opening a connection may take, in ms, 1 to 2^31 − 1. Default 5,000 (our choice; pg waits for ever). */
  readonly connectTimeoutMs?: number;
  /**
   * Connections that were not needed for so long are closed, after twice that at most; in ms, 0 to 2^31 − 1. 0 keeps
   * them for ever. Default 10,000 (pg).
   */
  readonly idleTimeoutMs?: number;
  /**
   * Taken off the time left before the server is told, in ms, 0 to 2^31 − 1: what its answer needs on its way back.
   * Default 1 (our choice: the finest that the server knows).
   */
  readonly marginMs?: number;
  /** How long one statement may wait for a lock, in ms, 1 to 2^31 − 1, or Infinity. Default Infinity: while it has time. */
  readonly lockTimeoutMs?: number;
  /**
   * How long stopping and cleaning up an abandoned query may take before its connection is closed, in ms, 1 to
   * 2^31 − 1. Default 1,000 (our choice; a cancel takes some ms).
   */
  readonly cancelTimeoutMs?: number;
}

/** The same, checked and complete, but for what the kernel checks itself. */
export interface PoolSettings {
  readonly connection: ClientConfig;
  readonly size: number;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly marginMs: number;
  readonly lockTimeoutMs: number;
  readonly cancelTimeoutMs: number;
}

const KEYS = [
  "name",
  "connection",
  "size",
  "queue",
  "budget",
  "connectTimeoutMs",
  "idleTimeoutMs",
  "marginMs",
  "lockTimeoutMs",
  "cancelTimeoutMs",
];

/** What pg would take in `connection`, and what says it here. */
const NOT_HERE: Readonly<Record<string, string>> = {
  max: "`size` says it",
  min: "`warmUp()` opens connections beforehand",
  pipeline: "it is always on",
  connectionTimeoutMillis: "`connectTimeoutMs` says it",
  idleTimeoutMillis: "`idleTimeoutMs` says it",
  query_timeout: "it leaves the query running; the attempt's time is its limit",
  stream: "a cancel needs a connection of its own",
  maxUses: "connections live until they are idle",
  maxLifetimeSeconds: "connections live until they are idle",
  allowExitOnIdle: "`end()` closes the pool",
  onConnect: "set it by `options` or for the role: a session's state outlives its borrower",
  verify: "set it by `options` or for the role: a session's state outlives its borrower",
  Client: "the client is pg's own",
  Promise: "promises are the platform's own",
};

/** Checks everything that the kernel does not check itself. Throws an `OptionError` that names the field. */
export function settingsOf(options: GuardedPoolOptions): PoolSettings {
  checkKeys("guardedPool", options, KEYS);
  const { lockTimeoutMs } = options;
  return {
    connection: checkConnection(options.connection),
    size: checkNumber("guardedPool.size", options.size, { min: 1, max: 10_000, integer: true }),
    connectTimeoutMs: checkLimit("connectTimeoutMs", orDefault(options.connectTimeoutMs, 5_000)),
    idleTimeoutMs: checkMs("guardedPool.idleTimeoutMs", orDefault(options.idleTimeoutMs, 10_000)),
    marginMs: checkMs("guardedPool.marginMs", orDefault(options.marginMs, 1)),
    lockTimeoutMs: checkMs("guardedPool.lockTimeoutMs", orDefault(lockTimeoutMs, Infinity), {
      min: 1,
      orInfinity: true,
    }),
    cancelTimeoutMs: checkLimit("cancelTimeoutMs", orDefault(options.cancelTimeoutMs, 1_000)),
  };
}

function checkLimit(field: string, value: number): number {
  return checkMs(`guardedPool.${field}`, value, { min: 1 });
}

function checkConnection(connection: ClientConfig): ClientConfig {
  const field = "guardedPool.connection";
  checkObject(field, connection);
  for (const [key, value] of Object.entries(connection)) {
    const instead = NOT_HERE[key];
    if (instead !== undefined) throw new OptionError(`${field}.${key}`, value, `nothing: ${instead}`);
  }
  return { ...connection };
}
