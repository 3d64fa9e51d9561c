// Transactions: COMMIT or ROLLBACK, never neither; and what an error says about what has happened.
import { expect, it } from "vitest";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { relay, textOf } from "../../../test/lib/relay.ts";
import { type Connection, RolledBackError } from "./index.ts";

const database = useDatabase("create table t (id int primary key)");

const idsOf = async (): Promise<number[]> =>
  (await database.ask<{ id: number }>("select id from t order by id")).map(({ id }) => id);
const insert = (connection: Connection, id: number) => connection.query("insert into t values ($1)", [id]);

it("commits what resolves, and rolls back what rejects, on the same connection", async () => {
  const db = database.open({ size: 1 });
  const change = db.operation("change", { attemptTimeoutMs: 60_000 });
  expect(
    await change((connection) =>
      connection.transaction(async (transaction) => {
        await Promise.all([insert(transaction, 1), insert(transaction, 2)]);
        return "both";
      }),
    ),
  ).toBe("both");
  const no = new Error("no");
  await expect(
    change((connection) =>
      connection.transaction(async (transaction) => {
        await insert(transaction, 3);
        throw no;
      }),
    ),
  ).rejects.toBe(no);
  expect(await idsOf()).toEqual([1, 2]);
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 0 });
});

it("waits for statements that the work has not waited for, before COMMIT and before ROLLBACK", async () => {
  const db = database.open({ size: 1 });
  const change = db.operation("change");
  await change((connection) => connection.transaction((transaction) => void insert(transaction, 10)));
  const failing = change.outcome((connection) =>
    connection.transaction(async (transaction) => {
      const late = insert(transaction, 11);
      await Promise.all([late, Promise.reject(new Error("no"))]);
    }),
  );
  expect(await failing).toMatchObject({ kind: "failed", error: { message: "no" } });
  expect(await idsOf()).toContain(10);
  expect(await idsOf()).not.toContain(11);
});

it("is an error when COMMIT is answered by a rollback", async () => {
  const db = database.open({ size: 1 });
  const swallow = (connection: Connection) =>
    connection.transaction(async (transaction) => {
      await insert(transaction, 20);
      await transaction.query("select 1/0").catch(() => {});
    });
  const outcome = await db.operation("swallow").outcome(swallow);
  expect(outcome).toMatchObject({ kind: "failed", class: "permanent", effect: "none" });
  expect(outcome.kind === "failed" && outcome.error).toBeInstanceOf(RolledBackError);
  expect(await idsOf()).not.toContain(20);
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 0 });
});

it("takes isolation and access mode, and no others", async () => {
  const db = database.open({ size: 1 });
  const ask = db.operation("ask");
  const show = async (transaction: Connection): Promise<unknown> =>
    (
      await transaction.query(
        "select current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as only",
      )
    ).rows[0];
  expect(await ask((c) => c.transaction(show))).toEqual({ isolation: "read committed", only: "off" });
  expect(await ask((c) => c.transaction(show, { isolation: "serializable", readOnly: true }))).toEqual({
    isolation: "serializable",
    only: "on",
  });
  expect(await ask((c) => c.transaction(show, { isolation: "repeatable read", readOnly: false }))).toEqual({
    isolation: "repeatable read",
    only: "off",
  });
  const wrong = (options: object) => ask((c) => c.transaction(show, options as never));
  await expect(wrong({ isolation: "serializable; drop table t" })).rejects.toThrow(
    "transaction.isolation is ",
  );
  await expect(wrong({ readOnly: "yes" })).rejects.toThrow("transaction.readOnly is ");
  await expect(wrong({ deferrable: true })).rejects.toThrow("transaction.deferrable is ");
});

it("lends the connection to the transaction alone, and to nobody after it", async () => {
  const db = database.open({ size: 1 });
  const ask = db.operation("ask");
  let kept: Connection | undefined;
  let keptInner: Connection | undefined;
  await ask(async (connection) => {
    kept = connection;
    await connection.transaction(async (transaction) => {
      keptInner = transaction;
      await expect(connection.query("select 1")).rejects.toThrow("a transaction is open");
      await expect(transaction.transaction(() => 1)).rejects.toThrow("within a transaction");
    });
    await expect(keptInner?.query("select 1")).rejects.toThrow("the transaction has ended");
    await connection.query("select 1");
  });
  await expect(kept?.query("select 1")).rejects.toThrow("the work has ended");
  await expect(keptInner?.query("select 1")).rejects.toThrow("the work has ended");
  await expect(kept?.transaction(() => 1)).rejects.toThrow("the work has ended");
});

it("rolls back what was begun by hand and left open, before anybody else gets the connection", async () => {
  const db = database.open({ size: 1 });
  const ask = db.operation("ask");
  await ask(async (connection) => {
    await connection.query("begin");
    await insert(connection, 30);
  });
  expect(
    await ask(async (connection) => (await connection.query("select id from t where id = 30")).rows),
  ).toEqual([]);
  expect(await idsOf()).not.toContain(30);
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 0 });
});

it("sees a transaction that failed although the end of the server's reply is late", async () => {
  const { url, rules } = await relay(database.url);
  const db = database.open({ size: 1, connection: { connectionString: url } });
  await db.warmUp();
  rules.toClient = ({ type }) => (type === "Z" ? "late" : "pass");
  const outcome = await db.operation("ask").outcome((connection) => connection.query("begin; select 1/0"));
  expect(outcome).toMatchObject({ class: "permanent", error: { code: "22012" } });
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 0, held: 0 });
  const { rows } = await db.operation("next")((connection) => connection.query("select 1 as one"));
  expect(rows).toEqual([{ one: 1 }]);
});

it("undoes the open transaction of an attempt that is given up, while its work goes on", async () => {
  const db = database.open({ size: 1, queue: { maxWaiting: 1 } });
  const controller = new AbortController();
  let goOn = (): void => {};
  const further = new Promise<void>((done) => {
    goOn = done;
  });
  let late: unknown;
  const given = db.operation("given up").outcome(
    (connection) =>
      connection.transaction(async (transaction) => {
        await insert(transaction, 40);
        controller.abort(new Error("gone"));
        await further;
        late = await insert(transaction, 41).catch((error) => error);
        throw new Error("too late to be heard");
      }),
    { signal: controller.signal },
  );
  await expect(given).rejects.toThrow("gone");
  while ((await database.backends())[0]?.state !== "idle") await new Promise(setImmediate);
  while (db.stats.idle === 0) await new Promise(setImmediate);
  expect(db.stats).toMatchObject({ held: 1, connections: 1, idle: 1 }); // the place is the work's until it ends
  goOn();
  while (db.stats.held > 0) await new Promise(setImmediate);
  expect(String(late)).toContain("gone");
  expect(await idsOf()).not.toContain(40);
});

it("says that nobody knows, once an earlier statement of the same attempt was permanent", async () => {
  const db = database.open({ size: 1 });
  const twice = db.operation("twice").outcome(async (connection) => {
    await insert(connection, 50);
    await connection.query("select 1/0");
  });
  expect(await twice).toMatchObject({ class: "permanent", effect: "unknown" });
  const afterCommit = db.operation("after commit").outcome(async (connection) => {
    await connection.transaction((transaction) => insert(transaction, 51));
    await connection.transaction((transaction) => insert(transaction, 51));
  });
  expect(await afterCommit).toMatchObject({ effect: "unknown", error: { code: "23505" } });
});

it.each([
  ["a statement within a transaction", "INSERT", "none"],
  ["COMMIT", "COMMIT", "unknown"],
])("a connection lost at %s: effect %s", async (_, at, effect) => {
  const { url, rules } = await relay(database.url);
  const db = database.open({ size: 1, connection: { connectionString: url } });
  await db.warmUp();
  rules.toServer = (message) => (textOf(message).startsWith(at) ? "cut" : "pass");
  const lost = db
    .operation("lost")
    .outcome((connection) =>
      connection.transaction((transaction) => transaction.query("INSERT INTO t VALUES (60)")),
    );
  expect(await lost).toMatchObject({ kind: "failed", class: "transient", effect });
  expect(db.stats).toMatchObject({ connections: 0, destroyed: 1, held: 0 });
  rules.toServer = () => "pass";
  expect((await db.operation("next")((connection) => connection.query("select 1 as one"))).rows).toEqual([
    { one: 1 },
  ]);
});

it.each([
  ["within a transaction", true, "none"],
  ["by itself", false, "unknown"],
])("a session ended by the administrator, %s: effect %s", async (_, inTransaction, effect) => {
  const db = database.open({ size: 1 });
  const sleep = (connection: Connection) => connection.query("select pg_sleep(600)");
  const killed = db
    .operation("killed")
    .outcome((connection) => (inTransaction ? connection.transaction(sleep) : sleep(connection)));
  while (!(await database.backends())[0]?.query.includes("pg_sleep")) await new Promise(setImmediate);
  await database.ask("select pg_terminate_backend($1)", [(await database.backends())[0]?.pid]);
  expect(await killed).toMatchObject({ class: "transient", effect, error: { code: "57P01" } });
  expect(db.stats).toMatchObject({ connections: 0, destroyed: 1, held: 0 });
});

it("outlives the end of idle connections", async () => {
  const db = database.open({ size: 2 });
  await db.warmUp();
  for (const { pid } of await database.backends())
    await database.ask("select pg_terminate_backend($1)", [pid]);
  while (db.stats.connections > 0) await new Promise(setImmediate);
  expect((await db.operation("next")((connection) => connection.query("select 1 as one"))).rows).toEqual([
    { one: 1 },
  ]);
});
