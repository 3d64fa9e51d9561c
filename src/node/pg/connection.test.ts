// The connection that work is given: what it takes, what it refuses, and what becomes of it after the work.
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";
import type { Connection } from "./index.ts";

const database = useDatabase("create table t (id int)");

it("sends several statements at once, and answers them in order", async () => {
  const db = database.open({ size: 1 });
  const rows = await db.operation("many", { attemptTimeoutMs: 60_000 })(async (connection) => {
    const all = Array.from({ length: 50 }, (_, n) =>
      connection.query<{ n: number }>("select $1::int as n", [n]),
    );
    return (await Promise.all(all)).map((result) => result.rows[0]?.n);
  });
  expect(rows).toEqual(Array.from({ length: 50 }, (_, n) => n));
});

it("one that fails among them takes no other with it", async () => {
  const db = database.open({ size: 1 });
  const settled = await db.operation("many")((connection) =>
    Promise.allSettled(
      ["select 1 as n", "select 1/0 as n", "select 3 as n"].map((text) => connection.query(text)),
    ),
  );
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

it("waits for statements that the work has not waited for; the answer does not", async () => {
  const db = database.open({ size: 1, queue: { maxWaiting: 1 } });
  const ask = db.operation("ask", { attemptTimeoutMs: 60_000 });
  let late: Promise<unknown> | undefined;
  const startedAt = performance.now();
  expect(
    await ask((connection) => {
      late = connection.query("insert into t select 1 from pg_sleep(0.3)");
      return "at once";
    }),
  ).toBe("at once");
  const answeredAt = performance.now();
  expect(db.stats.held).toBe(1);
  await ask((connection) => connection.query("select 1"));
  expect(performance.now() - startedAt).toBeGreaterThan(290);
  expect(answeredAt).toBeLessThan(performance.now());
  await late;
  expect(await database.ask("table t")).toEqual([{ id: 1 }]);
});

it("cancels them when the attempt's time is over", async () => {
  const db = database.open({ size: 1 });
  let late: Promise<unknown> | undefined;
  await db.operation("ask", { attemptTimeoutMs: 100 })((connection) => {
    // No limit of the server's own helps: it is lifted.
    late = connection.query("set statement_timeout to 0; select pg_sleep(600)");
  });
  await expect(late).rejects.toMatchObject({ code: "57014" });
  while (db.stats.held > 0) await sleep(1);
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 0 });
});

it.each([
  ["a cursor", new pg.Query("select 1"), "cursors and streams"],
  ["rows in portions", { text: "select 1", rows: 10 }, "cursors and streams"],
  ["a callback", { text: "select 1", callback: () => {} }, "no callbacks"],
  ["nothing", undefined, "a query is a text"],
  ["an object without text", {}, "a query has a text"],
])("refuses %s, and keeps the connection", async (_, query, message) => {
  const db = database.open({ size: 1 });
  const outcome = await db.operation("ask").outcome((connection) => connection.query(query as never));
  expect(outcome).toMatchObject({ kind: "failed", class: "permanent" });
  expect(String(outcome.kind === "failed" && outcome.error)).toContain(message);
  expect(db.stats).toMatchObject({ connections: 1, idle: 1, destroyed: 0 });
});

it("refuses values that are no array", async () => {
  const db = database.open({ size: 1 });
  await expect(
    db.operation("ask")((connection) => connection.query("select $1", "x" as never)),
  ).rejects.toThrow("array");
});

it("closes a connection after an error that is not the server's word", async () => {
  const db = database.open({ size: 1 });
  const bad = {
    toPostgres: (): never => {
      throw new Error("no such value");
    },
  };
  const outcome = await db.operation("ask").outcome((connection) => connection.query("select $1", [bad]));
  expect(outcome).toMatchObject({ kind: "failed", class: "permanent", error: { message: "no such value" } });
  expect(db.stats).toMatchObject({ connections: 0, destroyed: 1, held: 0 });
});

it("closes a connection to a server that has become a replica", async () => {
  const db = database.open({ size: 1 });
  const text = "do $$ begin raise exception 'read only' using errcode = '25006'; end $$";
  const outcome = await db.operation("write").outcome((connection) => connection.query(text));
  expect(outcome).toMatchObject({ class: "transient", effect: "none", error: { code: "25006" } });
  expect(db.stats).toMatchObject({ connections: 0, destroyed: 1, held: 0 });
});

it("does not end the process for the error of a cancelled statement that nobody waits for", async () => {
  const db = database.open({ size: 1 });
  const unhandled: unknown[] = [];
  const listener = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", listener);
  onTestFinished(() => void process.off("unhandledRejection", listener));
  await db.operation("ask", { attemptTimeoutMs: 100 })((connection) => {
    void connection.query("set statement_timeout to 0; select pg_sleep(600)");
    void connection.query("select 1");
  });
  while (db.stats.held > 0) await sleep(1);
  expect(unhandled).toEqual([]);
});

it("leads back, in its error's stack, to who has asked", async () => {
  const db = database.open({ size: 1 });
  const asksForNothing = async (connection: Connection) => await connection.query("select no_such");
  const error: unknown = await db
    .operation("ask")(asksForNothing)
    .catch((reason) => reason);
  expect((error as Error).stack).toContain("asksForNothing");
});

it("fails a call that was given up while it was connected, and keeps the connection for the next", async () => {
  const db = database.open({ size: 1 });
  let ran = false;
  const controller = new AbortController();
  const given = db.operation("ask")(
    () => {
      ran = true;
    },
    { signal: controller.signal },
  );
  controller.abort(new Error("gone"));
  await expect(given).rejects.toThrow("gone");
  while (db.stats.held > 0) await sleep(1);
  expect(ran).toBe(false);
  expect(db.stats).toMatchObject({ connections: 1, idle: 1 });
});
