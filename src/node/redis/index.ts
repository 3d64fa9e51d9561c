/** `plimsoll/redis`: Redis under guards. Needs the optional peer `ioredis`. */
export type { RedisWork } from "./lease.ts";
export { type GuardedRedisOptions, NO_REPEATS, type OfflineOptions, type RedisClient } from "./options.ts";
export { type GuardedRedis, guardedRedis, type RedisOperation } from "./redis.ts";
