// What may be done on a connection that all calls share: pipelines, transactions, scripts, blocking, pub/sub.
import type { Command } from "ioredis";
import { expect, it } from "vitest";
import { sleep, until } from "../../../test/lib/http.ts";
import { startRedis } from "../../../test/lib/redis.ts";

it("a pipeline is sent whole; errors of single commands stand in its answer", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 1 } });
  const many = cache.operation("many", { attemptTimeoutMs: 20_000 });
  const answer = await many((redis) => redis.pipeline().set("a", "1").lpush("a", "2").get("a").exec());
  expect(answer).toMatchObject([[null, "OK"], [{ name: "ReplyError" }], [null, "1"]]);
  expect(await many((redis) => redis.multi().incr("a").get("a").exec())).toEqual([
    [null, 2],
    [null, "2"],
  ]);
  expect(cache.dependency.bulkhead?.gate.held).toBe(0);
});

it("a pipeline of an attempt that is over is refused whole, and shifts nobody's replies", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const many = cache.operation("many", { attemptTimeoutMs: 50 });
  let late: unknown;
  await many.outcome(async (redis) => {
    const pipeline = redis.pipeline().set("a", "1").set("b", "2");
    await sleep(100);
    late = await pipeline.exec();
  });
  await until(() => late !== undefined);
  expect(late).toMatchObject([[{ message: /over/ }], [{ message: /over/ }]]);
  const echo = cache.operation("echo", { attemptTimeoutMs: 20_000 });
  expect(await Promise.all([1, 2, 3].map((n) => echo((redis) => redis.echo(`${n}`))))).toEqual([
    "1",
    "2",
    "3",
  ]);
  expect(await server.ask("keys", "*")).toEqual([]);
});

it("a pipeline is sent whole although its time runs out while it is being written", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const many = cache.operation("many", { attemptTimeoutMs: 50 });
  await many.outcome((redis, attempt) => {
    const pipeline = redis.pipeline().set("a", "1").set("b", "2");
    const [first] = (pipeline as unknown as { _queue: Command[] })._queue;
    const write = first?.toWritable as Command["toWritable"];
    Object.assign(first as Command, {
      toWritable(socket: object) {
        while (attempt.timeLeftMs > 0);
        return write.call(first, socket);
      },
    });
    return pipeline.exec();
  });
  const echo = cache.operation("echo", { attemptTimeoutMs: 20_000 });
  expect(await Promise.all([1, 2, 3].map((n) => echo((redis) => redis.echo(`${n}`))))).toEqual([
    "1",
    "2",
    "3",
  ]);
  expect(await server.ask("dbsize")).toBe(2);
});

it("scripts are guarded, be they known to the server or not", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 1 } });
  cache.client.defineCommand("twice", { numberOfKeys: 1, lua: "return redis.call('incrby', KEYS[1], 2)" });
  const script = cache.operation("script", { attemptTimeoutMs: 20_000 });
  const twice = () =>
    script((redis) => (redis as unknown as { twice(key: string): Promise<number> }).twice("a"));
  expect(await twice()).toBe(2);
  expect(await twice()).toBe(4);
  await server.ask("script", "flush");
  expect(await twice()).toBe(6); // NOSCRIPT, and then the script itself
  expect(cache.dependency.bulkhead?.gate.held).toBe(0);
});

it("scans are guarded, too", async () => {
  const server = await startRedis();
  await server.ask("mset", "a", 1, "b", 2);
  const cache = await server.guarded();
  const scan = cache.operation("scan", { attemptTimeoutMs: 20_000 });
  const keys = await scan(async (redis) => {
    const found: string[] = [];
    for await (const some of redis.scanStream()) found.push(...(some as string[]));
    return found.sort();
  });
  expect(keys).toEqual(["a", "b"]);
});

it("a command that blocks for longer than its attempt has is refused: what it gets later is lost", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const pop = cache.operation("pop", { attemptTimeoutMs: 2_000, retry: { attempts: 3 }, idempotent: true });
  const refused = { kind: "failed", class: "permanent", effect: "none" };
  expect(await pop.outcome((redis) => redis.blpop("jobs", 5))).toMatchObject({
    ...refused,
    error: { message: expect.stringMatching(/^blpop may block for 5000 ms, longer than its attempt has/) },
  });
  expect(await pop.outcome((redis) => redis.blpop("jobs", 0))).toMatchObject(refused);
  expect(await pop.outcome((redis) => redis.xread("BLOCK", 0, "STREAMS", "log", "$"))).toMatchObject(refused);
  expect(await server.calls("blpop")).toBe(0);
  await server.ask("rpush", "jobs", "one");
  expect(await pop((redis) => redis.blpop("jobs", 0.5))).toEqual(["jobs", "one"]);
  expect(await pop((redis) => redis.xread("STREAMS", "log", "0"))).toBe(null);
});

it("what changes the connection for all is refused", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const misuse = cache.operation("misuse");
  for (const [name, ...words] of [
    ["subscribe", "news"],
    ["SUBSCRIBE", "news"],
    ["select", "1"],
    ["watch", "a"],
  ] as const) {
    const outcome = await misuse.outcome((redis) => redis.call(name, ...words));
    expect(outcome, name).toMatchObject({ class: "permanent", effect: "none" });
  }
  expect(await misuse.outcome((redis) => redis.multi({ pipeline: false }))).toMatchObject({
    class: "permanent",
  });
  expect(await misuse((redis) => redis.publish("news", "tea"))).toBe(0);
});
