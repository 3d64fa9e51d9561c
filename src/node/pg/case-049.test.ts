// Case 049: a query that timed out left a dead connection in the pool.
import { expect, it } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { relay } from "../../../test/lib/relay.ts";

const database = useDatabase();

const asleep = async (): Promise<number> =>
  (await database.backends()).filter(({ state, query }) => state === "active" && query.includes("pg_sleep"))
    .length;

it.each([
  ["by the server itself", { attemptTimeoutMs: 100 }, {}],
  ["by a cancel", { attemptTimeoutMs: 60_000 }, { signal: true }],
])(
  "%s: stopped on the server, and the connection answers again",
  async (_, options, { signal }: { signal?: boolean }) => {
    const db = database.open({ size: 1, queue: { maxWaiting: 1, maxWaitMs: 1_000 } });
    await db.warmUp();
    const call = signal ? { signal: AbortSignal.timeout(100) } : {};
    const slow = db.operation("slow", options)(
      (connection) => connection.query("select pg_sleep(600)"),
      call,
    );
    await expect(slow).rejects.toThrow();
    const { rows } = await db.operation("next")((connection) => connection.query("select 1 as one"));
    expect(rows).toEqual([{ one: 1 }]);
    expect(await asleep()).toBe(0);
    expect(db.stats).toMatchObject({ connections: 1, held: 0 });
  },
);

it("a connection that says nothing any more is closed, and the next call gets another", async () => {
  const { url, rules } = await relay(database.url);
  const db = database.open({
    size: 1,
    queue: { maxWaiting: 1, maxWaitMs: 60_000 },
    connection: { connectionString: url },
    cancelTimeoutMs: 200,
  });
  await db.warmUp();
  const [first] = await database.backends();
  rules.toClient = (_, line) => (line.number === 1 ? "hold" : "pass");
  const slow = db.operation("slow", { attemptTimeoutMs: 100 })((connection) =>
    connection.query("select pg_sleep(600)"),
  );
  await expect(slow).rejects.toThrow();
  const pid = await db.operation("next")(async (connection) => {
    const { rows } = await connection.query<{ pid: number }>("select pg_backend_pid() as pid");
    return rows[0]?.pid;
  });
  expect(pid).not.toBe(first?.pid);
  expect(db.stats).toMatchObject({ connections: 1, destroyed: 1, held: 0 });
  while ((await asleep()) > 0) await sleep(5);
  await database.untilBackends(1);
});
