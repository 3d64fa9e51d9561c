// Case 068: what was queued while the client was disconnected was sent after its caller had left.
import { once } from "node:events";
import { expect, it } from "vitest";
import { until } from "../../../test/lib/http.ts";
import { startRedis } from "../../../test/lib/redis.ts";

it("a command whose caller has left is never sent", async () => {
  const server = await startRedis();
  const cache = await server.guarded({ offline: { maxWaiting: 10, maxWaitMs: 60_000 } });
  const write = cache.operation("write");
  await server.kill();
  await until(() => cache.client.status !== "ready");

  const late = write.outcome((redis) => redis.set("late", "1"), { deadline: performance.now() + 200 });
  const gone = new AbortController();
  const left = write((redis) => redis.set("left", "1"), { signal: gone.signal });
  const patient = write((redis) => redis.set("patient", "1"));
  expect(cache.waiting).toBe(3);
  gone.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  expect(await late).toMatchObject({ kind: "failed", effect: "none", ended: "clipped" });
  expect(cache.waiting).toBe(1);

  await server.start();
  expect(await patient).toBe("OK");
  expect(await server.ask("keys", "*")).toEqual(["patient"]);
  expect(await server.calls("set")).toBe(1);
});

it("who waits for the first connection waits no longer than it may", async () => {
  const server = await startRedis();
  await server.kill();
  const client = server.client({ lazyConnect: true });
  const cache = await server.guarded({}, { lazyConnect: true, path: client.options.path as string });
  const read = cache.operation("read", { attemptTimeoutMs: 100 });
  const outcome = await read.outcome((redis) => redis.get("item:7"));
  // Not a timeout, of which nobody knows the effect: nothing was sent.
  expect(outcome).toMatchObject({ kind: "failed", effect: "none", ended: "unsent" });
  expect(outcome).toMatchObject({ error: { by: "connection", reason: "waited too long", sent: false } });
  await server.start();
  await once(cache.client, "ready");
  expect(await read((redis) => redis.get("item:7"))).toBe(null);
  expect(await server.calls("get")).toBe(1);
});
