// Case 052: the wait for a place in the pool had no bound, or was taken for a failure to connect.
import { expect, it } from "vitest";
import { useDatabase } from "../../../test/lib/postgres.ts";

const database = useDatabase();

it("the third borrower is refused after its wait, and both places can be used afterwards", async () => {
  const db = database.open({ size: 2, queue: { maxWaiting: 5, maxWaitMs: 1_000 } });
  const ask = db.operation("ask");
  let free = (): void => {};
  const freed = new Promise<void>((done) => {
    free = done;
  });
  const holders = [ask(() => freed), ask(() => freed)];
  const startedAt = performance.now();
  const third = ask.outcome(() => "never");
  expect(db.stats.waiting).toBe(1);
  expect(await third).toEqual({
    kind: "rejected",
    by: "bulkhead",
    reason: "waited too long",
    retryAfterMs: undefined,
  });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(999);
  expect(db.stats).toMatchObject({ waiting: 0, held: 2 });
  free();
  await Promise.all(holders);
  const both = [1, 2].map((n) =>
    ask(async (c) => (await c.query("select $1::int as n, pg_sleep(0.05)", [n])).rows[0]?.n),
  );
  expect(await Promise.all(both)).toEqual([1, 2]);
  expect(db.stats).toMatchObject({ connections: 2, held: 0, waitingInPool: 0 });
});

it("a failure to connect is told apart: it is the database's, and nothing was sent", async () => {
  const db = database.open({ connection: { connectionString: "postgres://a:b@127.0.0.1:1/c" } });
  const outcome = await db.operation("ask", { retry: { attempts: 1 } }).outcome(() => "never");
  expect(outcome).toMatchObject({
    kind: "failed",
    ended: "unsent",
    error: { code: "ECONNREFUSED", syscall: "connect" },
  });
});
