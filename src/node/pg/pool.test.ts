// A guarded pool on a real server: work gets a connection, and a connection goes back.
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { dependency } from "../../index.node.ts";

const database = useDatabase(
  "create table stock (id int primary key, left_over int); insert into stock values (7, 5)",
);

it("runs work with a connection, and gives what it gives", async () => {
  const db = database.open();
  const view = db.operation("view");
  expect(await view(async (connection) => (await connection.query("select 1 as one")).rows)).toEqual([
    { one: 1 },
  ]);
  const { rows } = await view((connection) =>
    connection.query<{ id: number }>("select id from stock where id = $1", [7]),
  );
  expect(rows).toEqual([{ id: 7 }]);
  const named = {
    name: "view",
    text: "select left_over from stock where id = $1",
    values: [7],
    rowMode: "array",
  } as const;
  expect((await view((connection) => connection.query({ ...named, values: [7] }))).rows).toEqual([[5]]);
  expect(await view.outcome(() => "no query at all")).toMatchObject({ kind: "ok", value: "no query at all" });
  expect(db.stats).toEqual({
    connections: 1,
    idle: 1,
    held: 0,
    limit: 4,
    waiting: 0,
    waitingInPool: 0,
    cancels: 0,
    destroyed: 0,
  });
});

it("lends as many connections as it has, and refuses or queues the rest", async () => {
  const db = database.open({ size: 2, queue: { maxWaiting: 1, maxWaitMs: 10_000 } });
  const pid = db.operation("pid");
  const ask = () =>
    pid.outcome(async (connection) => {
      const { rows } = await connection.query<{ pid: number }>(
        "select pg_backend_pid() as pid, pg_sleep(0.05)",
      );
      return rows[0]?.pid;
    });
  const outcomes = await Promise.all([ask(), ask(), ask(), ask()]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["ok", "ok", "ok", "rejected"]);
  expect(outcomes[3]).toMatchObject({ by: "bulkhead", reason: "queue full" });
  expect(new Set(outcomes.slice(0, 3).map((outcome) => outcome.kind === "ok" && outcome.value)).size).toBe(2);
  expect(await database.backends()).toHaveLength(2);
});

it("looks at the deadline when a call leaves the queue", async () => {
  const db = database.open({ size: 1, queue: { maxWaiting: 5, maxWaitMs: 10_000 } });
  const ask = db.operation("ask");
  let ran = false;
  const first = ask((connection) => connection.query("select pg_sleep(0.3)"));
  const second = ask.outcome(
    () => {
      ran = true;
    },
    { deadline: performance.now() + 20 },
  );
  expect(await second).toMatchObject({ kind: "rejected", by: "deadline", reason: "expired" });
  await first;
  expect(ran).toBe(false);
});

it("warms up: opens what may be opened, and says how many there are", async () => {
  const db = database.open({ size: 3 });
  expect(await db.warmUp(2)).toBe(2);
  expect(await database.backends()).toHaveLength(2);
  expect(await db.warmUp()).toBe(3);
  expect(await db.warmUp()).toBe(3);
  expect(db.stats).toMatchObject({ connections: 3, idle: 3, held: 0 });
  const unreachable = database.open({ connection: { connectionString: "postgres://a:b@127.0.0.1:1/c" } });
  await expect(unreachable.warmUp()).rejects.toThrow("ECONNREFUSED");
  await expect(db.warmUp(4)).rejects.toThrow("warmUp.connections is 4");
});

it("closes what was not needed for a while, and keeps what was", async () => {
  const db = database.open({ size: 4, idleTimeoutMs: 100 });
  const ask = db.operation("ask");
  await db.warmUp();
  let over = false;
  const busy = [1, 2].map(async () => {
    while (!over) await ask((connection) => connection.query("select 1"));
  });
  while (db.stats.connections > 2) await sleep(5);
  over = true;
  await Promise.all(busy);
  while (db.stats.connections > 0) await sleep(5);
  expect(db.stats).toMatchObject({ held: 0, destroyed: 0 });
  expect((await ask((connection) => connection.query("select 1 as one"))).rows).toEqual([{ one: 1 }]);
  const kept = database.open({ size: 2, idleTimeoutMs: 0 });
  await kept.warmUp();
  await sleep(300);
  expect(kept.stats.connections).toBe(2);
});

it("ends: what is in work has time to end, and then no connection is left", async () => {
  const db = database.open({ size: 2 });
  const ask = db.operation("ask");
  await db.warmUp();
  const work = ask(
    async (connection) => (await connection.query("select 1 as one, pg_sleep(0.1)")).rows[0]?.one,
  );
  await sleep(10);
  const ended = db.end(60_000);
  await expect(ask(() => 1)).rejects.toThrow("the pool is closed");
  expect(await work).toBe(1);
  await ended;
  await db.end();
  expect(db.stats).toMatchObject({ connections: 0, held: 0 });
  await database.untilBackends(0);
});

it("stops what has no end, when the time for that is over", async () => {
  const db = database.open({ size: 2 });
  const ask = db.operation("ask");
  const query = ask.outcome((connection) => connection.query("select pg_sleep(600)"));
  const other = ask.outcome(() => new Promise(() => {}));
  await sleep(50);
  await db.end(20);
  expect(await query).toMatchObject({ kind: "failed", class: "transient", effect: "none" });
  expect(db.stats.connections).toBe(0);
  await Promise.race([other, sleep(10)]);
});

it("leaves bare pg as it is, beside it", async () => {
  const db = database.open({ size: 1 });
  const bare = new pg.Pool({ connectionString: database.url, max: 1 });
  onTestFinished(() => bare.end());
  const count = "select count(*)::int as n from stock";
  const guarded = db.operation("count")((connection) => connection.query(count));
  expect((await bare.query(count)).rows).toEqual((await guarded).rows);
  const client = await bare.connect();
  expect(client.pipeline).toBe(false);
  client.release();
  expect(dependency({ name: "another" }).bulkhead).toBeNull();
});
