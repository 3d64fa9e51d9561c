// What happens within one turn of the event loop: connections that change hands, and a pool that is closed meanwhile.
import { expect, it } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";
import type { Attempt } from "../../core/attempt.ts";
import { Bulkhead } from "../../core/bulkhead/guard.ts";
import { VirtualRuntime } from "../../testing/index.ts";
import { NodeRuntime } from "../runtime.ts";
import type { Connection } from "./index.ts";
import { lend } from "./lease.ts";
import { settingsOf } from "./options.ts";
import { Places } from "./places.ts";

const database = useDatabase();
const one = (connection: Connection) => connection.query("select 1");

it("answers a call that was about to get an idle connection when the pool was closed", async () => {
  const db = database.open({ size: 2 });
  const ask = db.operation("ask");
  await db.warmUp();
  await new Promise(setImmediate);
  const asked = ask(one);
  const ended = db.end();
  const outcome = await asked.then(
    () => "answered",
    (error: Error) => error.message,
  );
  expect(outcome).toBe("answered");
  await ended;
});

it("never lends a connection that died in the very turn in which it was given back", async () => {
  const runtime = new NodeRuntime();
  const connection = { connectionString: database.url, application_name: "bare" };
  const settings = settingsOf({ name: "db", size: 1, connection });
  const places = new Places(settings, new Bulkhead({ limit: 1 }, runtime), runtime);
  const first = await places.connect();
  void places.giveBack(first, true);
  const second = await places.connect();
  expect(second).toBe(first); // handed on
  void places.giveBack(second, true);
  second.destroy();
  const third = await places.connect();
  expect(third).not.toBe(first);
  expect(await third.ask("select 1")).toBe(null);
  let gone = false;
  third.client.connection.stream.once("close", () => {
    gone = true;
  });
  await places.giveBack(third, false);
  expect(gone).toBe(true); // its place must not be given away before
  void places.giveBack(await places.connect(), true);
  expect(places.stats).toMatchObject({ connections: 1, idle: 1 });
  await places.end(0);
  expect(places.stats).toMatchObject({ connections: 0, idle: 0 });
  await expect(places.connect()).rejects.toThrow("the pool is closed");
});

it("begins no work on a connection that comes about when the time to end is over, which may be cut short", async () => {
  const runtime = new VirtualRuntime();
  const settings = settingsOf({ name: "db", size: 1, connection: { connectionString: database.url } });
  const places = new Places(settings, new Bulkhead({ limit: 1 }, runtime), runtime);
  let worked = false;
  const lent = lend(places, { state: "sent" } as Attempt, () => {
    worked = true;
  });
  const ended = places.end(60_000);
  runtime.advance(1);
  expect(places.forced).toBe(false);
  expect(places.end(1)).toBe(ended);
  runtime.advance(1);
  expect(places.forced).toBe(true);
  await expect(lent).rejects.toThrow("given up while it was being connected");
  await ended;
  expect([worked, places.stats.connections, runtime.pending]).toEqual([false, 0, 0]);
});

it("sends no COMMIT behind a statement that goes on: that one can be cancelled, and its connection is kept", async () => {
  const db = database.open({ size: 1, cancelTimeoutMs: 600_000 });
  const leaving = new AbortController();
  const asked = db.operation("ask")(
    (connection) =>
      connection.transaction((transaction) => {
        transaction.query("select pg_sleep(600)").catch(() => {});
      }),
    { signal: leaving.signal },
  );
  const failure = asked.catch((error: Error) => error.message);
  while (!(await database.backends()).some(({ query }) => query.includes("pg_sleep"))) await sleep(5);
  leaving.abort(new Error("left"));
  expect(await failure).toBe("left");
  while (db.stats.held > 0) await sleep(5);
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 0 });
});
