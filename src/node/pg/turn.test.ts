// What happens within one turn of the event loop: connections that change hands, and a pool that is closed meanwhile.
import { expect, it } from "vitest";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { Bulkhead } from "../../core/bulkhead/guard.ts";
import { NodeRuntime } from "../runtime.ts";
import type { Connection } from "./index.ts";
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
  await places.giveBack(third, false);
  expect(third.client.connection.stream.closed).toBe(true); // its place must not be given away before
  void places.giveBack(await places.connect(), true);
  expect(places.stats).toMatchObject({ connections: 1, idle: 1 });
  await places.end(0);
  expect(places.stats).toMatchObject({ connections: 0, idle: 0 });
  await expect(places.connect()).rejects.toThrow("the pool is closed");
});
