// Case 119: an expensive query, callers with less patience than it takes, and retries.
import { expect, it } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { useDatabase } from "../../../test/lib/postgres.ts";

const CALLERS = 20;
const SIZE = 4;

const database = useDatabase();

const running = async (): Promise<number> =>
  (await database.backends()).filter(({ state, query }) => state === "active" && query.includes("pg_sleep"))
    .length;

it.each([
  ["the time of its attempts", { attemptTimeoutMs: 1_000 }, false],
  ["its caller, who leaves", {}, true],
])(
  "queries given up by %s are stopped on the server, and repeats stay within the budget",
  async (_, limit, leaves) => {
    const db = database.open({
      size: SIZE,
      queue: { maxWaiting: CALLERS, maxWaitMs: 60_000 },
      budget: { ratio: 0.05, burst: 1 },
    });
    await db.warmUp();
    const expensive = db.operation("expensive", { ...limit, idempotent: true, retry: { attempts: 3 } });
    let sent = 0;
    const call = () =>
      expensive
        .outcome(
          (connection) => {
            sent++;
            return connection.query("select pg_sleep(60)");
          },
          leaves ? { signal: AbortSignal.timeout(1_000) } : {},
        )
        .catch(() => null);
    const calls = Promise.all(Array.from({ length: CALLERS }, call));
    let over = false;
    void calls.then(() => {
      over = true;
    });
    let most = 0;
    while (!over) {
      most = Math.max(most, await running());
      await sleep(20);
    }
    const outcomes = await calls;
    expect(outcomes.filter((outcome) => outcome?.kind === "ok")).toEqual([]);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(SIZE);
    expect(sent).toBeLessThanOrEqual(CALLERS * 1.1);
    while (db.stats.held > 0) await sleep(1);
    expect(await running()).toBe(0);
    expect(db.stats).toMatchObject({ connections: SIZE, destroyed: 0 });
  },
);
