// Case 139: a server without room for more connections was treated as a permanent failure.
import { expect, it } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { relay } from "../../../test/lib/relay.ts";

const CALLS = 20;
const SIZE = 10;
const ROOM = 3;
const role = `limited_${process.pid}`;

const database = useDatabase(`create role ${role} login password 'p' connection limit ${ROOM}`);

it("the pool lives with what it can have: no failure, no storm, and it grows back", async () => {
  const { url, lines } = await relay(database.url);
  const connectionString = Object.assign(new URL(url), { username: role, password: "p" }).href;
  const db = database.open({
    size: SIZE,
    queue: { maxWaiting: CALLS, maxWaitMs: 60_000 },
    connection: { connectionString },
  });
  const ask = db.operation("ask", { totalTimeoutMs: 60_000 });
  const pids = new Set<number | undefined>();
  const call = () =>
    ask.outcome(async (connection) => {
      const { rows } = await connection.query<{ pid: number }>(
        "select pg_backend_pid() as pid, pg_sleep(0.1)",
      );
      pids.add(rows[0]?.pid);
    });
  const outcomes = await Promise.all(Array.from({ length: CALLS }, call));
  expect(outcomes.map(({ kind }) => kind)).toEqual(Array(CALLS).fill("ok"));
  expect(pids.size).toBe(ROOM);
  expect(db.stats).toMatchObject({ connections: ROOM, held: 0, waiting: 0 });
  expect(db.stats.limit).toBeLessThan(SIZE);
  // Ten at once, and then one try in a while.
  expect(lines.made).toBeLessThan(SIZE + 5);
  await database.ask(`alter role ${role} connection limit ${SIZE}`);
  while (db.stats.connections < ROOM + 2) {
    await Promise.all(Array.from({ length: SIZE }, call));
    await sleep(50);
  }
  expect(lines.made).toBeLessThan(SIZE + 15);
  await db.end();
  await database.untilBackends(0);
});

it("warms up to what there is", async () => {
  await database.ask(`alter role ${role} connection limit ${ROOM}`);
  const connectionString = Object.assign(new URL(database.url), { username: role, password: "p" }).href;
  const db = database.open({ size: SIZE, connection: { connectionString } });
  expect(await db.warmUp()).toBe(ROOM);
  expect(db.stats).toMatchObject({ connections: ROOM, limit: ROOM, held: 0 });
});
