// What the server says, and what it leaves unsaid: a real Redis in each of its bad states.
import { once } from "node:events";
import type { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { sleep, until } from "../../../test/lib/http.ts";
import { type RedisServer, startRedis } from "../../../test/lib/redis.ts";

const written = (redis: Redis): Promise<unknown> => redis.set("item:7", "tea");

const reply = (word: string, failureClass: string) => ({
  class: failureClass,
  effect: "none",
  error: { message: expect.stringMatching(`^${word} `) },
});

describe("an error reply", () => {
  const outcomeOf = async (server: RedisServer, work: (redis: Redis) => Promise<unknown>, client = {}) =>
    (await server.guarded({}, client)).operation("work").outcome(work);

  it("READONLY: not executed, and another attempt may find the primary", async () => {
    const server = await startRedis("--replicaof", "127.0.0.1 1");
    expect(await outcomeOf(server, written)).toMatchObject(reply("READONLY", "transient"));
  });

  it("MASTERDOWN: not executed", async () => {
    const server = await startRedis("--replicaof", "127.0.0.1 1", "--replica-serve-stale-data", "no");
    const outcome = await outcomeOf(server, (redis) => redis.get("a"), { enableReadyCheck: false });
    expect(outcome).toMatchObject(reply("MASTERDOWN", "transient"));
  });

  it("NOREPLICAS: not executed", async () => {
    const server = await startRedis("--min-replicas-to-write", "1");
    expect(await outcomeOf(server, written)).toMatchObject(reply("NOREPLICAS", "transient"));
  });

  it("OOM: turned away", async () => {
    const server = await startRedis("--maxmemory", "1", "--maxmemory-policy", "noeviction");
    expect(await outcomeOf(server, written)).toMatchObject(reply("OOM", "throttling"));
  });

  it("CLUSTERDOWN: not executed", async () => {
    const server = await startRedis("--cluster-enabled", "yes");
    expect(await outcomeOf(server, written)).toMatchObject(reply("CLUSTERDOWN", "transient"));
  });

  it("BUSY: turned away, while a script runs for another client", async () => {
    const server = await startRedis("--busy-reply-threshold", "1");
    const loop = server.ask("eval", "while true do end", 0).catch(() => {});
    await sleep(50);
    const outcome = await outcomeOf(server, (redis) => redis.get("a"), {
      enableReadyCheck: false,
      protocol: 2,
    });
    expect(outcome).toMatchObject(reply("BUSY", "throttling"));
    await server.ask("script", "kill");
    await loop;
  });

  it("LOADING: not executed", async () => {
    const server = await startRedis(
      "--enable-debug-command",
      "yes",
      "--key-load-delay",
      "20000",
      "--loading-process-events-interval-bytes",
      "1024",
    );
    await server.ask("debug", "populate", 2_000, "key", 2_000);
    await server.ask("save");
    await server.kill();
    await server.start();
    const outcome = await outcomeOf(server, (redis) => redis.get("a"), {
      enableReadyCheck: false,
      protocol: 2,
    });
    expect(outcome).toMatchObject(reply("LOADING", "transient"));
  });

  it("WRONGTYPE: an answer, which is the same every time", async () => {
    const server = await startRedis();
    await server.ask("set", "item:7", "tea");
    const cache = await server.guarded();
    const push = cache.operation("push", { idempotent: true, retry: { attempts: 3 }, breaker: {} });
    const outcome = await push.outcome((redis) => redis.lpush("item:7", "x"));
    expect(outcome).toMatchObject(reply("WRONGTYPE", "permanent"));
    expect(await server.calls("lpush")).toBe(1);
  });

  it("EXECABORT: nothing of the transaction was executed", async () => {
    const server = await startRedis("--maxmemory", "1", "--maxmemory-policy", "noeviction");
    const outcome = await outcomeOf(server, (redis) => redis.multi().set("a", "1").set("b", "2").exec());
    expect(outcome).toMatchObject({ class: "transient", effect: "none", error: { name: "ReplyError" } });
  });

  it("a script's own word is nobody's but its caller's", async () => {
    const server = await startRedis();
    const outcome = await outcomeOf(server, (redis) =>
      redis.eval("redis.call('set', 'a', 1) return redis.error_reply('OUTOFTEA none left')", 0),
    );
    expect(outcome).toMatchObject({ class: "unknown", effect: "unknown" });
  });

  it("says nothing about what the same attempt has done before", async () => {
    const server = await startRedis();
    const cache = await server.guarded();
    const count = cache.operation("count", { retry: { attempts: 3, backoff: () => 0 } });
    const outcome = await count.outcome(async (redis) => {
      await redis.incr("count");
      await server.ask("config", "set", "min-replicas-to-write", "1");
      await redis.set("item:7", "tea"); // NOREPLICAS
    });
    expect(outcome).toMatchObject({ effect: "unknown", stoppedBy: { reason: "not repeatable" } });
    expect(await server.ask("get", "count")).toBe("1");
  });

  it("of a script says nothing about what it wrote before it failed", async () => {
    const server = await startRedis();
    const cache = await server.guarded();
    const outcome = await cache.operation("count").outcome(async (redis) => {
      await redis.eval("redis.call('incr', 'count') return redis.error_reply('ERR no')", 0).catch(() => {});
      await server.ask("config", "set", "min-replicas-to-write", "1");
      await redis.set("item:7", "tea"); // NOREPLICAS
    });
    expect(outcome).toMatchObject({ class: "transient", effect: "unknown" });
  });
});

describe("a connection that is lost", () => {
  it("after a command was written: nobody knows, so only what may be repeated is", async () => {
    const server = await startRedis();
    const cache = await server.guarded();
    const options = { retry: { attempts: 2, backoff: () => 0 } };
    const write = cache.operation("write", options);
    const read = cache.operation("read", { ...options, idempotent: true });
    server.signal("SIGSTOP");
    const written = write.outcome((redis) => redis.incr("count"));
    const read7 = read.outcome((redis) => redis.get("item:7"));
    await until(() => cache.client.commandQueue.length === 2);
    await server.kill();
    const lost = { class: "transient", effect: "unknown", error: { name: "MaxRetriesPerRequestError" } };
    expect(await written).toMatchObject({ ...lost, stoppedBy: { reason: "not repeatable" } });
    await server.start();
    expect(await read7).toMatchObject({ kind: "ok", value: null });
    // ioredis has sent nothing again by itself.
    expect([await server.calls("incr"), await server.calls("get")]).toEqual([0, 1]);
  });

  it("between two commands: the second one is not sent on the new connection", async () => {
    const server = await startRedis();
    const cache = await server.guarded();
    const copy = cache.operation("copy");
    const outcome = await copy.outcome(async (redis) => {
      await redis.get("a");
      await server.kill();
      await server.start();
      await once(cache.client, "ready");
      return redis.set("b", "2");
    });
    expect(outcome).toMatchObject({
      effect: "unknown",
      error: { by: "connection", reason: "lost", sent: false },
    });
    expect(await server.calls("set")).toBe(0);
  });

  it("before the first command: nothing was sent, and a write is repeated", async () => {
    const server = await startRedis();
    const cache = await server.guarded();
    const write = cache.operation("write", { retry: { attempts: 2, backoff: () => 0 } });
    const value = await write(async (redis, attempt) => {
      if (attempt.number === 1) {
        await server.kill();
        await until(() => cache.client.status !== "ready");
        void server.start();
      }
      return redis.set("a", "1");
    });
    expect(value).toBe("OK");
    expect(await server.calls("set")).toBe(1);
  });

  it("in this very moment: what is not written any more was not sent", async () => {
    const server = await startRedis();
    const cache = await server.guarded();
    const write = cache.operation("write", { retry: { attempts: 2, backoff: () => 0 } });
    const value = await write((redis, attempt) => {
      if (attempt.number === 1) cache.client.disconnect(true); // the client has not said so yet
      return redis.set("a", "1");
    });
    expect(value).toBe("OK");
  });

  it("under a pipeline: the attempt has failed, although exec() answers", async () => {
    const server = await startRedis();
    const cache = await server.guarded();
    const many = cache.operation("many");
    server.signal("SIGSTOP");
    let answer: unknown;
    const outcome = many.outcome(async (redis) => {
      answer = await redis.pipeline().set("a", "1").set("b", "2").exec();
      return answer;
    });
    await until(() => cache.client.commandQueue.length === 2);
    await server.kill();
    expect(await outcome).toMatchObject({ kind: "failed", class: "transient", effect: "unknown" });
    expect(answer).toMatchObject([
      [{ name: "MaxRetriesPerRequestError" }],
      [{ name: "MaxRetriesPerRequestError" }],
    ]);
  });
});
