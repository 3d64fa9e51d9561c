/**
 * What an error reply of Redis means: its first word decides. Every such reply says that the command was not executed;
 * only a connection that is lost after the command was written leaves it unknown, and that is no reply.
 *
 * Source: redis/redis `src/server.c` and `src/cluster.c`. MOVED and ASK are left out: cluster clients follow them.
 */
import type { Judge } from "../leaf.ts";
import { field, judgeBy, type Meaning, NOT_EXECUTED, REFUSED, TURNED_AWAY } from "./meaning.ts";

/** By the first word of the reply. */
export const REDIS_REPLY: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ["LOADING", NOT_EXECUTED],
  ["BUSY", TURNED_AWAY],
  ["MASTERDOWN", NOT_EXECUTED],
  ["NOREPLICAS", NOT_EXECUTED],
  ["READONLY", NOT_EXECUTED],
  ["TRYAGAIN", NOT_EXECUTED],
  ["CLUSTERDOWN", NOT_EXECUTED],
  ["OOM", TURNED_AWAY],
  ["MISCONF", TURNED_AWAY],
  ["EXECABORT", NOT_EXECUTED],
  ["CROSSSLOT", REFUSED],
  ["WRONGTYPE", REFUSED],
  ["NOAUTH", REFUSED],
  ["NOPERM", REFUSED],
  ["WRONGPASS", REFUSED],
  ["NOSCRIPT", REFUSED],
  ["ERR", REFUSED],
]);

/** What an error of a Redis client means; undefined where it is no reply of the server's. */
export function redisMeaning(error: unknown): Meaning | undefined {
  const [, word = ""] = /^([A-Z]+)(?: |$)/.exec(String(field(error, "message") ?? "")) ?? [];
  return REDIS_REPLY.get(word);
}

/** Judges what a command gave: `classify: judgeRedis`. */
export const judgeRedis: Judge = judgeBy(redisMeaning);
