// Case 076: the client's own queue has no bound: a server that is down fills the memory.
import { expect, it } from "vitest";
import { until } from "../../../test/lib/http.ts";
import { startRedis } from "../../../test/lib/redis.ts";

const CALLS = 100_000;

it("by default a bounded number waits for a bounded time, and the rest is refused at once", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const read = cache.operation("read");
  await server.kill();
  await until(() => cache.client.status !== "ready");

  let refused = 0;
  const outcomes = Array.from({ length: CALLS }, async () => {
    const outcome = await read.outcome((redis) => redis.get("item:7"));
    if (outcome.kind === "failed" && (outcome.error as { reason?: string }).reason === "queue full")
      refused++;
    return outcome;
  });
  expect(cache.waiting).toBe(1_000);
  await until(() => refused === CALLS - 1_000);
  // ioredis itself keeps nothing.
  expect(cache.client).toMatchObject({ offlineQueue: { length: 0 }, commandQueue: { length: 0 } });
  const ends = await Promise.all(outcomes);
  expect(ends.every((outcome) => outcome.kind === "failed" && outcome.ended === "unsent")).toBe(true);
  expect(cache.waiting).toBe(0);
  await server.start();
  await until(() => cache.client.status === "ready");
  expect(await server.calls("get")).toBe(0);
});

it("a server that hangs holds as many commands as there are places, and gets no more", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 10 } });
  const read = cache.operation("read", { attemptTimeoutMs: 50 });
  server.signal("SIGSTOP");
  const outcomes = await Promise.all(
    Array.from({ length: 1_000 }, () => read.outcome((redis) => redis.get("item:7"))),
  );
  expect(outcomes.filter(({ kind }) => kind === "rejected")).toHaveLength(990);
  expect(outcomes.filter((outcome) => outcome.kind === "failed" && outcome.ended === "timeout")).toHaveLength(
    10,
  );
  // Answered is not ended: the replies are still to come.
  expect(cache.dependency.bulkhead?.gate.held).toBe(10);
  expect(cache.client.commandQueue.length).toBe(10);
  expect(await read.outcome((redis) => redis.get("item:7"))).toMatchObject({
    by: "bulkhead",
    reason: "full",
  });
  server.signal("SIGCONT");
  await until(() => cache.dependency.bulkhead?.gate.held === 0);
  expect(read.abandoned).toBe(0);
  expect(await server.calls("get")).toBe(10);
});

it("with a socket timeout a connection that hangs is given up, and its places with it", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 2 } }, { socketTimeout: 200 });
  const read = cache.operation("read", { attemptTimeoutMs: 50 });
  server.signal("SIGSTOP");
  await Promise.all([1, 2].map(() => read.outcome((redis) => redis.get("item:7"))));
  expect(cache.dependency.bulkhead?.gate.held).toBe(2);
  await until(() => cache.dependency.bulkhead?.gate.held === 0);
  server.signal("SIGCONT");
  await until(() => cache.client.status === "ready");
  expect(await read((redis) => redis.get("item:7"))).toBe(null);
});
