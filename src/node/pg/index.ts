/** `plimsoll/pg`: PostgreSQL under guards. Needs the optional peer `pg`. */
export type { Connection, TransactionOptions } from "./connection.ts";
export type { PgWork } from "./lease.ts";
export type { GuardedPoolOptions } from "./options.ts";
export type { PoolStats } from "./places.ts";
export { type GuardedPool, guardedPool, type PgOperation } from "./pool.ts";
export { RolledBackError } from "./rolled-back.ts";
export { type Meaning, SQLSTATES } from "./sqlstate.ts";
export type { Query } from "./statement.ts";
