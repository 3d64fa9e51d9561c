// What would harm everybody on a connection that all calls share, and must not.
import { once } from "node:events";
import { isNativeError } from "node:util/types";
import type { Command, Redis } from "ioredis";
import { expect, it } from "vitest";
import { sleep, until } from "../../../test/lib/http.ts";
import { startRedis } from "../../../test/lib/redis.ts";

const refused = { kind: "failed", class: "permanent", effect: "none" };

it("what changes the connection is refused in a pipeline as well, and with it the whole pipeline", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const misuse = cache.operation("misuse", { retry: { attempts: 3 }, idempotent: true });
  const pipelines: ((redis: Redis) => Promise<unknown>)[] = [
    (redis) => redis.pipeline().set("a", "1").select(3).set("b", "2").exec(),
    (redis) => redis.pipeline([["set", "a", "1"], ["select", "3"]]).exec(), // biome-ignore format: one line each
    (redis) => redis.multi().set("a", "1").select(3).exec(),
    (redis) => redis.multi([["select", "3"]]).exec(),
    (redis) => redis.pipeline().call("multi").set("a", "1").exec(),
    (redis) => redis.pipeline().set("a", "1").call("subscribe", "news").exec(),
    (redis) => redis.pipeline().set("a", "1").quit().exec(),
  ];
  for (const work of pipelines) expect(await misuse.outcome(work), String(work)).toMatchObject(refused);
  expect(await misuse((redis) => redis.get("a"))).toBe(null);
  expect(await server.ask("info", "keyspace")).not.toContain("db");
});

it("what ends the connection, logs it in anew or silences it is refused", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const misuse = cache.operation("misuse", { attemptTimeoutMs: 20_000 });
  for (const words of [
    "quit",
    "reset",
    "client reply off",
    "CLIENT REPLY SKIP",
    "hello 2",
    "psync ? -1",
    "auth a",
  ]) {
    const [name = "", ...more] = words.split(" ");
    expect(await misuse.outcome((redis) => redis.call(name, ...more)), words).toMatchObject(refused);
  }
  expect(await misuse((redis) => redis.client("GETNAME"))).toBe(null);
});

it("what blocks is refused by its whole time, be it in a pipeline or named WAIT; in a transaction nothing blocks", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const pop = cache.operation("pop", { attemptTimeoutMs: 2_000 });
  expect(await pop.outcome((redis) => redis.pipeline().blpop("jobs", 0).exec())).toMatchObject(refused);
  const both = await pop.outcome((redis) => redis.pipeline().blpop("a", 1.5).blpop("b", 1.5).exec());
  expect(both).toMatchObject(refused);
  expect(await pop.outcome((redis) => redis.wait(1, 0))).toMatchObject(refused);
  expect(await pop.outcome((redis) => redis.wait(1, 20_000))).toMatchObject(refused);
  expect(await server.calls("blpop")).toBe(0);
  expect(await pop((redis) => redis.wait(0, 1))).toBe(0);
  expect(await pop((redis) => redis.multi().blpop("jobs", 0).exec())).toEqual([[null, null]]);
});

it("an argument that cannot be written keeps no place, and shifts nobody's replies", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 1 } });
  const write = cache.operation("write", { attemptTimeoutMs: 20_000 });
  for (const wrong of [Object.create(null), { toString: null }]) {
    expect(await write.outcome((redis) => redis.set("a", wrong))).toMatchObject({ kind: "failed" });
    const piped = (redis: Redis) => redis.pipeline().set("a", "1").set("b", wrong).exec();
    expect(await write.outcome(piped)).toMatchObject(refused);
    await write((redis) => void redis.set("a", wrong)); // nobody waits for it
  }
  expect(cache.dependency.bulkhead?.gate.held).toBe(0);
  expect(await write((redis) => redis.echo("mine"))).toBe("mine");
  expect(await server.ask("dbsize")).toBe(0);
});

it("a pipeline that breaks off while it is written takes its connection with it, not the replies of others", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 10 } });
  const write = cache.operation("write", { attemptTimeoutMs: 20_000 });
  const outcome = await write.outcome((redis) => {
    const pipeline = redis.pipeline().set("a", "1").set("b", "2");
    const { _queue } = pipeline as unknown as { _queue: Command[] };
    // As for an argument that is longer than a string can be.
    Object.assign(_queue[1] as Command, {
      toWritable() {
        throw new RangeError("too long");
      },
    });
    return pipeline.exec();
  });
  expect(outcome).toMatchObject({ class: "permanent", error: { message: "too long" } });
  const echoes = [1, 2, 3].map((n) => write((redis) => redis.echo(`${n}`)));
  expect(await Promise.all(echoes)).toEqual(["1", "2", "3"]);
  await until(() => cache.dependency.bulkhead?.gate.held === 0);
});

it("a scan that nobody reads to its end ends with its attempt, and not with the process", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ bulkhead: { limit: 1 } });
  await cache.client.mset(Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`key:${n}`, "1"])));
  const scan = cache.operation("scan", { attemptTimeoutMs: 20_000 });
  let stream: NodeJS.ReadableStream | undefined;
  let failed: unknown;
  await scan((redis) => {
    stream = redis.scanStream({ count: 10 });
    return once(stream, "data");
  });
  stream?.once("error", (error) => {
    failed = error;
  });
  await until(() => failed !== undefined);
  expect(failed).toMatchObject({ message: /the attempt is over/ });
  expect(cache.dependency.bulkhead?.gate.held).toBe(0);
  const dropped = await scan((redis) => {
    const stream = redis.scanStream({ count: 10 });
    return new Promise<unknown>((done) => stream.once("data", done));
  });
  expect(dropped).not.toEqual([]);
  await sleep(50);
  expect(cache.dependency.bulkhead?.gate.held).toBe(0);
});

it("a lost connection is an error for each: what one call gives up on, another may try again", async () => {
  const server = await startRedis();
  const cache = await server.guarded();
  const options = { retry: { attempts: 2, backoff: () => 0 } };
  const write = cache.operation("write", options);
  const read = cache.operation("read", { ...options, idempotent: true });
  server.signal("SIGSTOP");
  const written = [1, 2, 3].map(() => write((redis) => redis.incr("count")).catch((error) => error));
  const found = [1, 2, 3].map(() => read((redis) => redis.get("a").finally(() => null)));
  await until(() => cache.client.commandQueue.length === 6);
  await server.kill();
  await server.start();
  expect(await Promise.all(found)).toEqual([null, null, null]);
  const errors = await Promise.all(written);
  expect(new Set(errors).size).toBe(3);
  for (const error of errors) {
    expect(error).toMatchObject({ name: "MaxRetriesPerRequestError", message: /max retries/ });
    expect(isNativeError(error) && error.stack).toContain("MaxRetriesPerRequestError");
  }
});
