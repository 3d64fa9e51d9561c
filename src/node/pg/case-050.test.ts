// Case 050: a connection that came after its connect timeout was leaked.
import { expect, it } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { relay } from "../../../test/lib/relay.ts";

const database = useDatabase();

it("late connections are closed, the counts return to 0, and the next connect works", async () => {
  const { url, rules, lines } = await relay(database.url, { acceptAfterMs: 2_000 });
  const db = database.open({ size: 2, connection: { connectionString: url }, connectTimeoutMs: 1_000 });
  const ask = db.operation("ask", { retry: { attempts: 1 } });
  const one = () => ask.outcome(async (connection) => (await connection.query("select 1 as one")).rows);
  const timedOut = await Promise.all([one(), one()]);
  for (const outcome of timedOut) {
    expect(outcome).toMatchObject({ kind: "failed", class: "transient", effect: "none", ended: "unsent" });
  }
  expect(db.stats).toMatchObject({ connections: 0, held: 0 });
  expect(lines.made).toBe(2);
  while (lines.open.size > 0) await sleep(5);
  rules.acceptAfterMs = 0;
  expect(await one()).toMatchObject({ kind: "ok", value: [{ one: 1 }] });
  await sleep(1_500); // by now the first two would have come about
  expect(await database.backends()).toHaveLength(1);
  expect(db.stats).toMatchObject({ connections: 1, idle: 1 });
});

it("an attempt that is given up while it is connected keeps its place until then, and the connection is used", async () => {
  const { url, lines } = await relay(database.url, { acceptAfterMs: 500 });
  const db = database.open({ size: 1, connection: { connectionString: url } });
  const hurried = await db.operation("ask", { attemptTimeoutMs: 100 }).outcome(() => "work");
  expect(hurried).toMatchObject({ kind: "failed", ended: "timeout" });
  expect(db.stats).toMatchObject({ connections: 1, held: 1 });
  expect(await db.operation("ask").outcome(() => "work")).toMatchObject({ kind: "rejected", by: "bulkhead" });
  while (db.stats.held > 0) await sleep(5);
  expect(await db.operation("ask").outcome(() => "work")).toMatchObject({ kind: "ok" });
  expect(lines.made).toBe(1);
  expect(await database.backends()).toHaveLength(1);
});
