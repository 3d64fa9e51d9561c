// Options are checked when the pool is made; what is wrong is named.
import { expect, it } from "vitest";
import { type GuardedPoolOptions, guardedPool } from "./index.ts";
import { settingsOf } from "./options.ts";

const GOOD = { name: "db", connection: {}, size: 2 } satisfies GuardedPoolOptions;

it.each([
  ["size", undefined],
  ["size", 0],
  ["size", 10_001],
  ["size", 1.5],
  ["size", Number.NaN],
  ["size", "8"],
  ["connection", undefined],
  ["connection", "postgres://localhost"],
  ["connectTimeoutMs", 0],
  ["connectTimeoutMs", Infinity],
  ["connectTimeoutMs", null],
  ["idleTimeoutMs", -1],
  ["marginMs", -1],
  ["marginMs", 2 ** 31],
  ["lockTimeoutMs", 0],
  ["cancelTimeoutMs", 0],
  ["cancelTimeoutMs", Infinity],
  ["poolSize", 3],
])("%s: %s is refused by name", (field, value) => {
  expect(() => guardedPool({ ...GOOD, [field]: value } as never)).toThrow(`guardedPool.${field} is `);
});

it.each([
  [{ name: "" }, "dependency.name is "],
  [{ queue: { maxWaiting: -1 } }, "db.bulkhead.queue.maxWaiting is -1"],
  [{ budget: { ratio: 2 } }, "db.budget.ratio is 2"],
  [{ connection: { max: 3 } }, "guardedPool.connection.max is 3; allowed: nothing: `size` says it"],
  [{ connection: { query_timeout: 3 } }, "guardedPool.connection.query_timeout is 3"],
  [{ connection: { pipeline: false } }, "guardedPool.connection.pipeline is false"],
])("%j is refused", (wrong, message) => {
  expect(() => guardedPool({ ...GOOD, ...wrong } as never)).toThrow(message);
});

it("takes the ends of every range", () => {
  const most = 2 ** 31 - 1;
  const low = { connectTimeoutMs: 1, idleTimeoutMs: 0, marginMs: 0, lockTimeoutMs: 1, cancelTimeoutMs: 1 };
  const high = { connectTimeoutMs: most, idleTimeoutMs: most, marginMs: most, cancelTimeoutMs: most };
  expect(settingsOf({ ...GOOD, size: 1, ...low })).toMatchObject(low);
  expect(settingsOf({ ...GOOD, size: 10_000, ...high })).toMatchObject(high);
});

it("wants a function as work", async () => {
  const db = guardedPool(GOOD);
  await expect(db.operation("x")("select 1" as never)).rejects.toThrow("work is ");
  await expect(db.operation("x").outcome(undefined as never)).rejects.toThrow("work is ");
  await db.end();
});
