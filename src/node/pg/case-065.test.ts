// Case 065: a shared pool mixed up the contexts of requests.
import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it } from "vitest";
import { useDatabase } from "../../../test/lib/postgres.ts";

const database = useDatabase();

it("each call sees its own time, its own priority and its own context, on a connection that others have made", async () => {
  const db = database.open({ size: 1, queue: { maxWaiting: 10, maxWaitMs: 60_000 } });
  const requests = new AsyncLocalStorage<string>();
  const ask = db.operation("ask");
  let free = (): void => {};
  const freed = new Promise<void>((done) => {
    free = done;
  });
  const holder = ask(() => freed);
  const seen: Record<string, unknown>[] = [];
  const call = (request: string, leftMs: number, criticality: "criticalPlus" | "sheddable") =>
    requests.run(request, () =>
      ask(
        async (connection, attempt) => {
          const before = requests.getStore();
          const left = attempt.timeLeftMs;
          const { rows } = await connection.query<{ ms: number }>(
            "select setting::int as ms from pg_settings where name = 'statement_timeout'",
          );
          seen.push({
            before,
            after: requests.getStore(),
            criticality: attempt.call.criticality,
            left,
            ms: rows[0]?.ms,
          });
        },
        { deadline: performance.now() + leftMs, criticality },
      ),
    );
  const calls = [
    call("A", 100_000, "criticalPlus"),
    call("B", 20_000, "sheddable"),
    call("A again", 90_000, "criticalPlus"),
  ];
  free();
  await Promise.all([holder, ...calls]);
  const bounds = [
    ["A", 100_000, "criticalPlus"],
    ["B", 20_000, "sheddable"],
    ["A again", 90_000, "criticalPlus"],
  ] as const;
  expect(seen).toHaveLength(3);
  bounds.forEach(([request, most, criticality], index) => {
    const { left, ms, ...rest } = seen[index] as { left: number; ms: number };
    expect(rest).toEqual({ before: request, after: request, criticality });
    expect(left).toBeLessThan(most);
    expect(left).toBeGreaterThan(most - 10_000);
    expect(ms).toBeLessThanOrEqual(most);
    expect(ms).toBeGreaterThan(most * 0.85);
  });
});
