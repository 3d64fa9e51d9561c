// What happens within one turn of the event loop: connections that change hands, and a pool that is closed meanwhile.
import { expect, it } from "vitest";
import { useDatabase } from "../../../test/lib/postgres.ts";
import type { Connection } from "./index.ts";

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
