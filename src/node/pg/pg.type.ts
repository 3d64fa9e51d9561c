// What must and must not compile around a guarded pool.
import type { QueryResult } from "pg";
import pg from "pg";
import { type GuardedPool, guardedPool, type PgOperation, type PoolStats } from "./index.ts";

const db: GuardedPool = guardedPool({ name: "db", connection: { host: "localhost" }, size: 4 });
const view = db.operation("view", { attemptTimeoutMs: 60 });
const filled = db.operation("filled", { fallback: () => "nothing" as const });

interface Item {
  id: number;
  name: string;
}

const rows: Promise<Item[]> = view(async (connection, attempt) => {
  const left: number = attempt.timeLeftMs;
  const { rows } = await connection.query<Item & Record<string, unknown>>("select $1", [left]);
  return rows;
});
const arrays: Promise<[number][]> = view(
  async (connection) => (await connection.query<[number]>({ text: "select 1", rowMode: "array" })).rows,
);
const either: Promise<number | "nothing"> = filled((connection) => connection.transaction(() => 1));
const operation: PgOperation<"nothing"> = filled;
const stats: PoolStats = db.stats;
const result: Promise<QueryResult> = view((connection) =>
  connection.query({ name: "one", text: "select 1" }),
);

// @ts-expect-error a size must be measured: it has no default
guardedPool({ name: "db", connection: {} });
// @ts-expect-error a limit without a unit is nobody's option
guardedPool({ name: "db", connection: {}, size: 1, timeout: 5 });
// @ts-expect-error counts are read
stats.held = 0;
// @ts-expect-error a fallback's value is not the work's
const wrong: Promise<number> = filled(() => 1);
// @ts-expect-error cursors are for bare pg
view((connection) => connection.query(new pg.Query("select 1")));
// @ts-expect-error no such isolation
view((connection) => connection.transaction(() => 1, { isolation: "read uncommitted" }));

export { arrays, either, operation, result, rows, wrong };
