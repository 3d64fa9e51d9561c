// What must and must not compile around a guarded Redis.
import { Cluster, Redis } from "ioredis";
import { type GuardedRedis, guardedRedis, NO_REPEATS, type RedisOperation } from "./index.ts";

const client = new Redis({ ...NO_REPEATS, lazyConnect: true });
const cache: GuardedRedis<Redis> = guardedRedis(client, { name: "cache", offline: { maxWaiting: 10 } });
const read = cache.operation("read", { attemptTimeoutMs: 50 });
const filled = cache.operation("filled", { fallback: () => 0 as const });

const value: Promise<string | null> = read((redis, attempt) => redis.get(`item:${attempt.timeLeftMs}`));
const either: Promise<number | 0> = filled((redis) => redis.incr("count"));
const operation: RedisOperation<0, Redis> = filled;
const mapped = guardedRedis(new Redis({ ...NO_REPEATS, replyMapping: "resp3" }), { name: "cache" });

// @ts-expect-error a cluster resends by itself
guardedRedis(new Cluster([]), { name: "cache" });
// @ts-expect-error a limit without a unit is nobody's option
guardedRedis(client, { name: "cache", offline: { timeout: 5 } });
// @ts-expect-error counts are read
cache.waiting = 0;
// @ts-expect-error no such command
read((redis) => redis.gett("item:7"));

export { either, mapped, operation, value };
