// Case 047: the reply to COMMIT was lost, and the transaction's body was run again.
import { expect, it } from "vitest";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { type Relay, relay, textOf } from "../../../test/lib/relay.ts";

const RUNS = 50;

const database = useDatabase(`
  create table stock (item int primary key, available int not null);
  create table reservations (key text primary key, item int not null);
  insert into stock values (7, 1000);`);

/** Cuts the line at the next COMMIT: before the server sees it, or once the server has answered it. */
function cutNextCommit(rules: Relay["rules"], when: "before" | "after"): void {
  let commits = 0;
  rules.toServer = (message) => {
    if (textOf(message) !== "COMMIT") return "pass";
    commits++;
    return when === "before" && commits === 1 ? "cut" : "pass";
  };
  rules.toClient = ({ type, body }) =>
    when === "after" && commits === 1 && type === "C" && body.toString().startsWith("COMMIT")
      ? "cut"
      : "pass";
}

it.each(["before", "after"] as const)(
  "cut %s the server's COMMIT: unknown, looked up by key, once each time",
  async (when) => {
    const { url, rules } = await relay(database.url);
    const db = database.open({ size: 2, connection: { connectionString: url } });
    const reserve = db.operation("reserve", { retry: { attempts: 3, backoff: { kind: "none" } } });
    const lookUp = db.operation("look up", { idempotent: true, retry: {} });
    const takeOne = (key: string) =>
      reserve.outcome((connection) =>
        connection.transaction(async (transaction) => {
          await transaction.query("update stock set available = available - 1 where item = 7");
          await transaction.query("insert into reservations values ($1, 7)", [key]);
        }),
      );
    const [before] = await database.ask<{ available: number }>("select available from stock");
    let again = 0;
    for (let run = 0; run < RUNS; run++) {
      const key = `${when}-${run}`;
      cutNextCommit(rules, when);
      const outcome = await takeOne(key);
      expect(outcome).toMatchObject({
        kind: "failed",
        effect: "unknown",
        stoppedBy: { by: "retry", reason: "not repeatable" },
      });
      const { rows } = await lookUp((connection) =>
        connection.query("select 1 from reservations where key = $1", [key]),
      );
      if (rows.length > 0) continue;
      again++;
      expect(await takeOne(key)).toMatchObject({ kind: "ok" });
    }
    expect(again).toBe(when === "before" ? RUNS : 0);
    const [after] = await database.ask<{ available: number }>("select available from stock");
    expect((before?.available ?? 0) - (after?.available ?? 0)).toBe(RUNS);
  },
);
