// Wrong options, and clients that would repeat or keep commands by themselves, are refused by name.
import { Cluster, Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { OptionError } from "../../core/index.ts";
import { guardedRedis, NO_REPEATS } from "./index.ts";

const path = "/nowhere/at/all";
const client = (options: object = {}) => {
  const made = new Redis({ ...NO_REPEATS, path, lazyConnect: true, ...options });
  onTestFinished(() => made.disconnect());
  return made;
};

describe("the client", () => {
  it.each([
    ["enableOfflineQueue", true, "false"],
    ["maxRetriesPerRequest", 20, "0"],
    ["maxRetriesPerRequest", null, "0"],
    ["autoResendUnfulfilledCommands", true, "false"],
  ])("%s: %j is refused", (option, value, allowed) => {
    expect(() => guardedRedis(client({ [option]: value }), { name: "cache" })).toThrow(
      `client.options.${option} is ${value}; allowed: ${allowed}: new Redis({ ...NO_REPEATS, … })`,
    );
  });

  it("as ioredis makes it by default is refused", () => {
    const usual = new Redis({ path, lazyConnect: true });
    expect(() => guardedRedis(usual, { name: "cache" })).toThrow("client.options.enableOfflineQueue is true");
  });

  it.each([
    ["commandTimeout", 100],
    ["blockingTimeout", 100],
    ["enableAutoPipelining", true],
  ])("%s is refused", (option, value) => {
    expect(() => guardedRedis(client({ [option]: value }), { name: "cache" })).toThrow(
      `client.options.${option} is ${value}; allowed: nothing: `,
    );
  });

  it.each([undefined, null, {}, "localhost"])("%j is none", (none) => {
    expect(() => guardedRedis(none as never, { name: "cache" })).toThrow(OptionError);
  });

  it("is no cluster, which resends by itself", () => {
    const cluster = new Cluster([{ host: "127.0.0.1", port: 1 }], { lazyConnect: true });
    expect(() => guardedRedis(cluster as never, { name: "cache" })).toThrow(
      "a Redis of ioredis, not a Cluster",
    );
  });

  it("is not touched", () => {
    const made = client();
    const before = { ...made.options };
    guardedRedis(made, { name: "cache" });
    expect({ ...made.options }).toEqual(before);
  });
});

describe("options", () => {
  it.each([
    [{ name: "" }, "dependency.name"],
    [{ name: "cache", offline: { maxWaiting: -1 } }, "guardedRedis.offline.maxWaiting"],
    [{ name: "cache", offline: { maxWaiting: 1.5 } }, "guardedRedis.offline.maxWaiting"],
    [{ name: "cache", offline: { maxWaiting: null } }, "guardedRedis.offline.maxWaiting"],
    [{ name: "cache", offline: { maxWaitMs: Number.NaN } }, "guardedRedis.offline.maxWaitMs"],
    [{ name: "cache", offline: { maxWaitMs: 2 ** 31 } }, "guardedRedis.offline.maxWaitMs"],
    [{ name: "cache", offline: { maxBytes: 5 } }, "guardedRedis.offline.maxBytes"],
    [{ name: "cache", offline: null }, "guardedRedis.offline"],
    [{ name: "cache", offlineQueue: {} }, "dependency.offlineQueue"],
    [null, "guardedRedis"],
  ])("%j: %s", (options, field) => {
    const made = client();
    expect(() => guardedRedis(made, options as never)).toThrow(expect.objectContaining({ field }));
    // Nothing was begun.
    expect(["close", "ready", "end"].flatMap((event) => made.listeners(event))).toEqual([]);
  });
});
