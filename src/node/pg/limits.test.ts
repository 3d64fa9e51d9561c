// The time left, as the server is told it: read back in the query's own session.
import { expect, it } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { relay, textOf } from "../../../test/lib/relay.ts";
import type { Connection } from "./index.ts";

const database = useDatabase("create table t (id int primary key); insert into t values (1)");

interface Limits {
  statement: number;
  lock: number;
}

/** Both settings of the session, in ms. */
async function limitsOf(connection: Connection): Promise<Limits> {
  const text = `select s.setting::int as statement, l.setting::int as lock from pg_settings s, pg_settings l
    where s.name = 'statement_timeout' and l.name = 'lock_timeout'`;
  return (await connection.query<Limits & Record<string, number>>(text)).rows[0] as Limits;
}

it("tells the server what is left, less the margin, on the grid", async () => {
  const db = database.open({ size: 1, marginMs: 200 });
  const ask = db.operation("ask", { attemptTimeoutMs: 60_000 });
  await db.warmUp();
  expect(await ask(limitsOf)).toEqual({ statement: 59_392, lock: 0 });
  const { statement } = await ask(limitsOf, { deadline: performance.now() + 20_000 });
  expect(statement).toBeLessThanOrEqual(19_800);
  expect(statement).toBeGreaterThan(10_000);
  const later = await db.operation("short", { attemptTimeoutMs: 10_000 })(async (connection, attempt) => {
    await limitsOf(connection);
    while (attempt.timeLeftMs > 9_000) await sleep(50);
    return limitsOf(connection);
  });
  expect(later.statement).toBeLessThanOrEqual(8_800);
});

it("leaves a session alone whose calls have no limit", async () => {
  const db = database.open({ size: 1, connection: { statement_timeout: 12_345 } });
  expect(await db.operation("open")(limitsOf)).toEqual({ statement: 12_345, lock: 0 });
  expect((await db.operation("limited", { attemptTimeoutMs: 60_000 })(limitsOf)).statement).toBe(59_392);
  expect(await db.operation("open again")(limitsOf)).toEqual({ statement: 12_345, lock: 0 });
});

it("bounds the wait for a lock below that", async () => {
  const db = database.open({ size: 1, lockTimeoutMs: 5_000 });
  expect(await db.operation("long", { attemptTimeoutMs: 60_000 })(limitsOf)).toEqual({
    statement: 59_392,
    lock: 5_000,
  });
  const { statement, lock } = await db.operation("short", { attemptTimeoutMs: 4_000 })(limitsOf);
  expect(statement).toBeLessThanOrEqual(4_000);
  expect(lock).toBeLessThan(statement);
  expect(await db.operation("none")(limitsOf)).toEqual({ statement: 0, lock: 5_000 });
});

it("sends the setting once, in the same write, and again only when it has to change", async () => {
  const sent: string[] = [];
  const { url } = await relay(database.url, {
    toServer: (message) => {
      if (message.type === "Q") sent.push(textOf(message));
      return "pass";
    },
  });
  const db = database.open({ size: 1, connection: { connectionString: url } });
  const ask = db.operation("ask", { attemptTimeoutMs: 600_000 });
  for (let n = 0; n < 20; n++) await ask((connection) => connection.query("select 'mine'"));
  const mine = Array.from({ length: 20 }, () => "select 'mine'");
  expect(sent).toEqual(["SET statement_timeout TO 589824", ...mine]);
  await db.operation("other", { attemptTimeoutMs: 60_000 })((connection) =>
    connection.query("select 'mine'"),
  );
  expect(sent.slice(21)).toEqual(["SET statement_timeout TO 59392", "select 'mine'"]);
});

it.each(["rollback", "error", "by hand", "left open"])(
  "remembers nothing that a rollback has undone: %s",
  async (how) => {
    const db = database.open({ size: 1 });
    const long = db.operation("long", { attemptTimeoutMs: 600_000 });
    const short = db.operation("short", { attemptTimeoutMs: 10_000 });
    await long(limitsOf);
    // Told within the transaction, because less is left by then than at its BEGIN.
    const undone = short.outcome(async (connection, attempt) => {
      const wait = async () => {
        while (attempt.timeLeftMs > 9_000) await sleep(50);
      };
      if (how === "by hand" || how === "left open") {
        await connection.query("begin");
        await wait();
        const limits = await limitsOf(connection);
        if (how === "left open") return limits;
        await connection.query("rollback");
        return limitsOf(connection);
      }
      return connection.transaction(async (transaction) => {
        await wait();
        const limits = await limitsOf(transaction);
        expect(limits.statement).toBeLessThanOrEqual(9_000);
        if (how === "error") await transaction.query("select 1/0");
        throw new Error("no");
      });
    });
    const outcome = await undone;
    if (outcome.kind === "ok") {
      const { statement } = outcome.value as Limits;
      expect(statement).toBeLessThanOrEqual(9_000);
      // The very time that the session was told last: it has to be told again.
      const same = db.operation("same", { attemptTimeoutMs: statement + 100 });
      expect((await same(limitsOf)).statement).toBe(statement);
    }
    for (const [ask, most] of [
      [short, 10_000],
      [long, 600_000],
    ] as const) {
      const { statement } = await ask(limitsOf);
      expect(statement).toBeLessThanOrEqual(most);
      expect(statement).toBeGreaterThan(most * 0.9);
    }
  },
);

it("remembers nothing that somebody has set by hand", async () => {
  const db = database.open({ size: 1 });
  const ask = db.operation("ask", { attemptTimeoutMs: 60_000 });
  for (const text of ["set statement_timeout to 7777", "reset statement_timeout", "discard all"]) {
    await ask((connection) => connection.query(text));
    expect((await ask(limitsOf)).statement).toBe(59_392);
  }
});

it("a statement that the server has stopped is the attempt's timeout, or its call's deadline", async () => {
  const db = database.open({ size: 1, marginMs: 100 });
  const slow = (connection: Connection) => connection.query("select pg_sleep(60)");
  const timeout = await db.operation("slow", { attemptTimeoutMs: 300 }).outcome(slow);
  expect(timeout).toMatchObject({
    kind: "failed",
    class: "transient",
    effect: "none",
    ended: "timeout",
    error: { code: "57014" },
  });
  const clipped = await db.operation("slow", { totalTimeoutMs: 300 }).outcome(slow);
  expect(clipped).toMatchObject({ effect: "none", ended: "clipped", error: { code: "57014" } });
  expect(db.stats).toMatchObject({ cancels: 0, destroyed: 0, connections: 1 });
});

it("a cancel by somebody else is no timeout of ours", async () => {
  const db = database.open({ size: 1 });
  const slow = db.operation("slow", { attemptTimeoutMs: 60_000 });
  const outcome = slow.outcome((connection) => connection.query("select pg_sleep(60)"));
  while ((await database.backends())[0]?.query !== "select pg_sleep(60)") await sleep(5);
  await database.ask("select pg_cancel_backend($1)", [(await database.backends())[0]?.pid]);
  const { ended, error } = (await outcome) as { ended: unknown; error: { code: string } };
  expect([error.code, ended]).toEqual(["57014", undefined]);
});

it("a wait for a lock ends by itself, and has changed nothing", async () => {
  const db = database.open({ size: 2, lockTimeoutMs: 50 });
  const change = db.operation("change", { attemptTimeoutMs: 60_000 });
  let free = (): void => {};
  const freed = new Promise<void>((done) => {
    free = done;
  });
  const holder = change((connection) =>
    connection.transaction(async (transaction) => {
      await transaction.query("update t set id = id");
      await freed;
    }),
  );
  while ((await database.backends())[0]?.state !== "idle in transaction") await sleep(5);
  const outcome = await change.outcome((connection) => connection.query("update t set id = id"));
  expect(outcome).toMatchObject({ class: "throttling", effect: "none", error: { code: "55P03" } });
  free();
  await holder;
});

it("sends nothing without time, and says so", async () => {
  const db = database.open({ size: 1 });
  const ask = db.operation("ask");
  await db.warmUp();
  const outcome = ask.outcome(
    (connection, attempt) => {
      const until = performance.now() + attempt.timeLeftMs + 1;
      while (performance.now() < until); // the loop is blocked: nobody can have ended the attempt
      return connection.query("select 1");
    },
    { deadline: performance.now() + 30 },
  );
  expect(await outcome).toMatchObject({ ended: "clipped" });
});
