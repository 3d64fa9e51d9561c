// Cancelling never hits anybody else. By hand: `PLIMSOLL_CANCELS=10000 PLIMSOLL_STOPS=1000 npx vitest run src/node/pg/cancel`.
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { relay, textOf } from "../../../test/lib/relay.ts";
import { CERTIFICATE, KEY } from "../../../test/lib/tls.ts";
import { sendCancel } from "./cancel.ts";
import { Session } from "./session.ts";

const database = useDatabase();

const CANCELS = Number(process.env.PLIMSOLL_CANCELS ?? 500);
const STOPS = Number(process.env.PLIMSOLL_STOPS ?? 20);
const SIZE = 4;

/** Asks for `ms` of sleep and for its own number back. Rejects when the signal fires, or with what the server said. */
type Ask = (number: number, ms: number, signal?: AbortSignal) => Promise<number>;

const SLEEP = "select pg_sleep($2::float8 / 1000), $1::int as number";

/** Aborts `times` queries at random times around their end, among borrowers that abort nothing. Counts what those lost. */
async function rig(ask: Ask, times: number): Promise<{ aborted: number; killed: number; answered: number }> {
  let [aborted, killed, answered, left] = [0, 0, 0, times];
  const aborter = async (): Promise<void> => {
    while (left-- > 0) {
      const controller = new AbortController();
      const ms = Math.random() * 3;
      setTimeout(() => controller.abort(), Math.random() * (ms + 1.5));
      await ask(1, ms, controller.signal).catch(() => aborted++);
      // Not more at once than are over: a cancel costs a process of the server.
      await new Promise(setImmediate);
    }
  };
  const bystander = async (number: number): Promise<void> => {
    while (left > 0) {
      try {
        expect(await ask(number, Math.random())).toBe(number);
        answered++;
      } catch (error) {
        if ((error as { code?: string }).code !== "57014") throw error;
        killed++;
      }
    }
  };
  const all = [aborter(), aborter(), aborter(), ...[11, 12, 13, 14, 15, 16].map(bystander)];
  await Promise.all(all);
  return { aborted, killed, answered };
}

it(`kills nobody else's query in ${CANCELS} cancels, and leaks nothing`, async () => {
  const db = database.open({ size: SIZE, queue: { maxWaiting: 100, maxWaitMs: 60_000 } });
  await db.warmUp();
  const before = (await database.backends()).map(({ pid }) => pid);
  const guarded = db.operation("ask", { attemptTimeoutMs: 60_000 });
  const ask: Ask = (number, ms, signal) =>
    guarded(async (connection) => {
      const { rows } = await connection.query<{ number: number }>({
        name: "sleep",
        text: SLEEP,
        values: [number, ms],
      });
      return rows[0]?.number ?? 0;
    }, signal && { signal });
  const { aborted, killed, answered } = await rig(ask, CANCELS);
  expect(killed).toBe(0);
  expect(aborted).toBeGreaterThan(CANCELS / 4);
  expect(answered).toBeGreaterThan(0);
  while (db.stats.held > 0) await sleep(1);
  expect(db.stats).toMatchObject({ connections: SIZE, idle: SIZE, destroyed: 0, waiting: 0 });
  expect(db.stats.cancels).toBeGreaterThan(CANCELS / 10);
  expect((await database.backends()).map(({ pid }) => pid)).toEqual(before);
});

it("is a test that can fail: a connection given back while its cancel is on its way loses the next query", async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: SIZE });
  onTestFinished(() => pool.end());
  const naive: Ask = async (number, ms, signal) => {
    const client = await pool.connect();
    const abort = (): void => void sendCancel(new Session(client));
    signal?.addEventListener("abort", abort);
    try {
      const { rows } = await client.query({ name: "sleep", text: SLEEP, values: [number, ms] });
      return rows[0].number;
    } finally {
      signal?.removeEventListener("abort", abort);
      client.removeAllListeners("error");
      client.release();
    }
  };
  let killed = 0;
  for (let n = 0; n < 50 && killed === 0; n++) killed += (await rig(naive, 100)).killed;
  expect(killed).toBeGreaterThan(0);
});

it("lends a connection again only when a late cancel has arrived, and one round trip is through", async () => {
  const sent: string[] = [];
  const { url, rules, lines } = await relay(database.url, {
    toServer: (message, line) => {
      if (line.cancels) sent.push("cancel");
      else if (message.type === "Q") sent.push(textOf(message));
      return "pass";
    },
  });
  const connection = { connectionString: url };
  const db = database.open({
    size: 1,
    queue: { maxWaiting: 1, maxWaitMs: 60_000 },
    connection,
    cancelTimeoutMs: 60_000,
  });
  const ask = db.operation("ask");
  await db.warmUp();
  rules.acceptAfterMs = 300;
  const first = ask((borrowed) => borrowed.query("select pg_sleep(0.1)"), {
    signal: AbortSignal.timeout(20),
  });
  const second = ask((borrowed) => borrowed.query("select pg_sleep(0.4)"));
  await expect(first).rejects.toThrow("timeout");
  await second;
  expect(sent).toEqual(["select pg_sleep(0.1)", "cancel", "", "select pg_sleep(0.4)"]);
  expect(lines.made).toBe(2);
});

it("sends a cancel again while there is no answer: it may have hit the statement in front", async () => {
  const { url, rules } = await relay(database.url);
  const db = database.open({ size: 1, connection: { connectionString: url }, cancelTimeoutMs: 60_000 });
  await db.warmUp();
  let lost = 0;
  rules.toServer = (_, line) => (line.cancels && lost++ < 3 ? "cut" : "pass");
  const slow = db.operation("slow").outcome((borrowed) => borrowed.query("select pg_sleep(600)"), {
    signal: AbortSignal.timeout(50),
  });
  await expect(slow).rejects.toThrow("timeout");
  while (db.stats.held > 0) await sleep(5);
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 0, cancels: 4 });
});

it("closes a connection that cannot be settled in time", async () => {
  const { url, rules, lines } = await relay(database.url);
  const db = database.open({ size: 1, connection: { connectionString: url }, cancelTimeoutMs: 100 });
  await db.warmUp();
  rules.toServer = (_, line) => (line.cancels ? "hold" : "pass");
  const slow = db.operation("slow", { attemptTimeoutMs: 50 });
  // Nothing comes back any more, so neither the server's own limit nor a cancel helps.
  rules.toClient = () => "drop";
  const outcome = await slow.outcome((borrowed) => borrowed.query("select pg_sleep(0.2)"));
  expect(outcome).toMatchObject({ kind: "failed", ended: "timeout", error: { code: "PLIMSOLL_TIMEOUT" } });
  expect(db.stats.held).toBe(1);
  while (db.stats.held > 0) await sleep(5);
  expect(db.stats).toMatchObject({ connections: 0, destroyed: 1 });
  expect(lines.open.size).toBe(0);
  rules.toServer = () => "pass";
  rules.toClient = () => "pass";
  expect((await db.operation("next")((borrowed) => borrowed.query("select 1 as one"))).rows).toEqual([
    { one: 1 },
  ]);
});

it("never cancels a COMMIT", async () => {
  const { url, rules } = await relay(database.url);
  const db = database.open({ size: 1, connection: { connectionString: url }, cancelTimeoutMs: 60_000 });
  await db.warmUp();
  // Held back for 300 ms: the abort comes while its answer is outstanding.
  await database.ask("create table slow_commit (id int)");
  await database.ask(`create function linger() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.3); return null; end $$`);
  await database.ask(`create constraint trigger linger after insert on slow_commit deferrable initially deferred
    for each row execute function linger()`);
  rules.toServer = () => "pass";
  const insert = db
    .operation("insert")
    .outcome(
      (connection) =>
        connection.transaction((transaction) => transaction.query("insert into slow_commit values (1)")),
      { signal: AbortSignal.timeout(150) },
    );
  await expect(insert).rejects.toThrow("timeout");
  while (db.stats.held > 0) await sleep(5);
  expect(db.stats).toMatchObject({ cancels: 0, connections: 1, destroyed: 0 });
  expect(await database.ask("table slow_commit")).toEqual([{ id: 1 }]);
});

it("cancels over TLS", async () => {
  const tls = { key: KEY, cert: CERTIFICATE };
  const through = await relay(database.url, { tls });
  const ssl = { ca: CERTIFICATE };
  const db = database.open({ size: 1, connection: { connectionString: through.url, ssl } });
  const slow = db.operation("slow").outcome((borrowed) => borrowed.query("select pg_sleep(600)"), {
    signal: AbortSignal.timeout(300),
  });
  await expect(slow).rejects.toThrow("timeout");
  while (db.stats.held > 0) await sleep(5);
  expect(through.cancels).toBeGreaterThan(0);
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 0 });
});

it("cancels over a Unix socket", async () => {
  const [{ unix_socket_directories: host } = { unix_socket_directories: "" }] = await database.ask<{
    unix_socket_directories: string;
  }>("show unix_socket_directories");
  const { port, username: user, password, pathname } = new URL(database.url);
  const connection = {
    host,
    port: Number(port),
    user,
    password,
    database: pathname.slice(1),
    connectionString: undefined,
  };
  const db = database.open({ size: 1, connection });
  const slow = db.operation("slow").outcome((borrowed) => borrowed.query("select pg_sleep(600)"), {
    signal: AbortSignal.timeout(200),
  });
  await expect(slow).rejects.toThrow("timeout");
  while (db.stats.held > 0) await sleep(5);
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 0 });
});

it("stops the server's work at once, and keeps the connection", async () => {
  const db = database.open({ size: 1, queue: { maxWaiting: 10 } });
  const slow = db.operation("slow");
  await db.warmUp();
  const [{ pid } = { pid: 0 }] = await database.backends();
  const watcher = new pg.Client({ connectionString: database.url });
  await watcher.connect();
  onTestFinished(() => watcher.end());
  const active = async (): Promise<boolean> => {
    const text =
      "select 1 from pg_stat_activity where pid = $1 and state = 'active' and query like '%pg_sleep%'";
    return (await watcher.query({ name: "active", text, values: [pid] })).rows.length > 0;
  };
  const took: number[] = [];
  for (let n = 0; n < STOPS; n++) {
    const controller = new AbortController();
    const outcome = slow((connection) => connection.query("select pg_sleep(600)"), {
      signal: controller.signal,
    });
    while (!(await active())) await sleep(1);
    const abortedAt = performance.now();
    controller.abort();
    await expect(outcome).rejects.toThrow("abort");
    expect(performance.now() - abortedAt).toBeLessThan(1_000); // answered at once, not when the server has stopped
    while (await active());
    took.push(performance.now() - abortedAt);
    while (db.stats.held > 0) await sleep(1);
  }
  took.sort((a, b) => a - b);
  const at = (share: number): string => (took[Math.floor(share * (took.length - 1))] ?? 0).toFixed(1);
  if (STOPS > 20) console.log(`stopped after ms: p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} of ${STOPS}`);
  expect(took.at(-1)).toBeLessThan(2_000);
  expect((await database.backends()).map((backend) => backend.pid)).toEqual([pid]);
});
