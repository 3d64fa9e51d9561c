// Cancelling never hits anybody else. By hand: `PLIMSOLL_CANCELS=10000 PLIMSOLL_STOPS=1000 npx vitest run src/node/pg/cancel`.
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";
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
