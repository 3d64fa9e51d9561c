// A server that is killed again and again, under load: whatever a call's outcome says about its effect is true.
import { expect, it } from "vitest";
import { sleep } from "../../../test/lib/http.ts";
import { startRedis } from "../../../test/lib/redis.ts";

const KILLS = 4;

it("no write is done twice, none that was answered is missing, and none that was not sent is there", async () => {
  // Every write is on the disk before it is answered, so a kill loses nothing that was said.
  const durable = ["--appendonly", "yes", "--appendfsync", "always"];
  const server = await startRedis(...durable);
  const cache = await server.guarded({
    bulkhead: { limit: 20, queue: { maxWaiting: 1_000, maxWaitMs: 60_000 } },
    offline: { maxWaiting: 20, maxWaitMs: 60_000 },
    budget: "none",
  });
  const count = cache.operation("count", { retry: { attempts: 10, backoff: () => 5 } });
  const outcomes: Promise<string>[] = [];
  let killing = true;
  const load = async (): Promise<void> => {
    while (killing) {
      const key = `key:${outcomes.length}`;
      const outcome = count.outcome(async (redis) => {
        if (outcomes.length % 3 === 0) return redis.multi().incr(key).exec();
        if (outcomes.length % 3 === 1) return redis.pipeline().incr(key).exec();
        return redis.incr(key);
      });
      outcomes.push(outcome.then((end) => (end.kind === "failed" ? end.effect : end.kind)));
      if (outcomes.length % 10 === 0) await sleep(1);
    }
  };
  const loaded = load();
  for (let i = 0; i < KILLS; i++) {
    await sleep(100);
    if (i % 2 === 1) server.signal("SIGSTOP"); // so that some are certainly under way
    await sleep(20);
    await server.kill();
    await sleep(50);
    await server.start(...durable);
  }
  await sleep(50);
  killing = false;
  await loaded;
  const ends = await Promise.all(outcomes);
  const keys = ends.map((_, i) => `key:${i}`);
  const values = (await server.ask("mget", ...keys)) as (string | null)[];
  const found = new Set(ends.map((end, i) => `${end}: ${values[i] ?? 0}`));
  const allowed = ["ok: 1", "unknown: 0", "unknown: 1", "none: 0", "rejected: 0"];
  expect([...found].filter((each) => !allowed.includes(each))).toEqual([]);
  expect(found).toContain("ok: 1");
  expect([...found].some((each) => each.startsWith("unknown"))).toBe(true);
}, 60_000);
