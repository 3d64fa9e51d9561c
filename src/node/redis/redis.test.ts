// A guarded Redis on a real server: work gets the client, and a place is held until its replies are there.
import { expect, it } from "vitest";
import { sleep, until } from "../../../test/lib/http.ts";
import { startRedis } from "../../../test/lib/redis.ts";

it("runs work with the client, and gives what it gives", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 4 } });
  const read = cache.operation("read", { idempotent: true, attemptTimeoutMs: 20_000 });
  const write = cache.operation("write", { attemptTimeoutMs: 20_000 });
  expect(await write((redis) => redis.set("item:7", "tea"))).toBe("OK");
  expect(await read((redis) => redis.get("item:7"))).toBe("tea");
  expect(await read((redis) => redis.getBuffer("item:7"))).toEqual(Buffer.from("tea"));
  expect(await read.outcome(() => "no command at all")).toMatchObject({ kind: "ok" });
  expect(await read((redis, attempt) => redis.get(`item:${attempt.number}`))).toBe(null);
  expect(cache).toMatchObject({ name: "cache", waiting: 0 });
  expect([read.abandoned, read.breaker, read.breakers]).toEqual([0, null, null]);
  expect(cache.dependency.bulkhead?.gate.held).toBe(0);
});

it("refuses what is no work", async () => {
  const cache = await (await startRedis()).guarded();
  const read = cache.operation("read");
  await expect(read("item:7" as never)).rejects.toThrow('work is "item:7"; allowed: a function');
  await expect(read.outcome(undefined as never)).rejects.toThrow("work is undefined");
});

it("falls back when the server is down, and the breaker opens", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ offline: { maxWaiting: 0 } });
  const read = cache.operation("read", {
    breaker: { window: { calls: 4 } },
    fallback: () => "nothing cached" as const,
  });
  await server.kill();
  await until(() => cache.client.status !== "ready");
  for (let i = 0; i < 4; i++) expect(await read((redis) => redis.get("item:7"))).toBe("nothing cached");
  expect(read.breaker?.state.name).toBe("open");
});

it("a place is held until the reply has come, whatever the work does", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 1 } });
  const read = cache.operation("read");
  server.signal("SIGSTOP");
  let reply: Promise<string> | undefined;
  await read((redis) => {
    reply = redis.ping(); // not waited for
  });
  expect(cache.dependency.bulkhead?.gate.held).toBe(1);
  server.signal("SIGCONT");
  expect(await reply).toBe("PONG");
  expect(cache.dependency.bulkhead?.gate.held).toBe(0);
});

it("sends nothing more for an attempt that is over", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 1 } });
  const write = cache.operation("write", { attemptTimeoutMs: 50 });
  let after: unknown;
  const outcome = await write.outcome(async (redis) => {
    await redis.set("first", "1");
    await sleep(150);
    void redis.set("nobody waits for it", "1");
    await redis.set("second", "1").catch((error: Error) => {
      after = error.message;
    });
  });
  expect(outcome).toMatchObject({ kind: "failed", ended: "timeout" });
  await until(() => after !== undefined);
  expect(after).toBe("the attempt is over: it sends nothing any more");
  expect(await server.ask("keys", "*")).toEqual(["first"]);
  await until(() => cache.dependency.bulkhead?.gate.held === 0);
});

it("does not begin for a caller who leaves just when the client is ready", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const write = cache.operation("write");
  await server.kill();
  await until(() => cache.client.status !== "ready");
  const gone = new AbortController();
  let begun = false;
  const left = write(
    () => {
      begun = true;
    },
    { signal: gone.signal },
  );
  cache.client.once("ready", () => gone.abort(new Error("gone")));
  await server.start();
  await expect(left).rejects.toThrow("gone");
  await sleep(20);
  expect(begun).toBe(false);
});

it("sends nothing when the time is over, be the timeout late itself", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const write = cache.operation("write", { attemptTimeoutMs: 50 });
  const outcome = await write.outcome((redis, attempt) => {
    while (attempt.timeLeftMs > 0);
    return redis.set("a", "1");
  });
  expect(outcome).toMatchObject({ kind: "failed", ended: "timeout" });
  expect(await server.calls("set")).toBe(0);
});

it("lets those who wait in by their order, and nobody past them", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const write = cache.operation("write");
  await server.kill();
  await until(() => cache.client.status !== "ready");
  const waiting = [1, 2, 3].map((n) => write((redis) => redis.rpush("order", n)));
  // Connected, and nobody has been told yet.
  const fourth = new Promise<void>((done) => {
    cache.client.prependOnceListener("ready", () => {
      waiting.push(write((redis) => redis.rpush("order", 4)));
      done();
    });
  });
  await server.start();
  await fourth;
  await Promise.all(waiting);
  expect(await server.ask("lrange", "order", 0, -1)).toEqual(["1", "2", "3", "4"]);
});

it("a client that was closed, or has given up, keeps nobody waiting", async () => {
  const server = await startRedis();
  await server.kill();
  const cache = await server.guarded({}, { lazyConnect: true, retryStrategy: () => null });
  const read = cache.operation("read");
  const again = cache.operation("again", { retry: { attempts: 3 } });
  const closed = { kind: "failed", error: { by: "connection", reason: "closed" }, effect: "none" };
  // The first use connects; there is nobody, and the client is not to try again.
  expect(await read.outcome((redis) => redis.get("item:7"))).toMatchObject(closed);
  expect(await again.outcome((redis) => redis.get("item:7"))).toMatchObject({
    ...closed,
    stoppedBy: { reason: "told not to" },
  });
  expect(cache.waiting).toBe(0);
});

it("calls made with the client itself pass by the guards", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 1 } });
  expect(await cache.client.ping()).toBe("PONG");
  expect(cache.dependency.bulkhead?.gate.held).toBe(0);
});
