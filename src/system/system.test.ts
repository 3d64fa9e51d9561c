import { describe, expect, it } from "vitest";
import { parametersOf, SETTINGS } from "./basketly/settings.ts";
import { basketlySystem, scaled, WITHOUT_BADGES } from "./basketly/system.ts";
import { bindEdge } from "./bind.ts";
import { SystemError } from "./errors.ts";
import { explainSystem } from "./explain-system.ts";
import { jsonSchema } from "./json-schema.ts";
import { readSystem } from "./load.ts";
import type { SystemFile } from "./types.ts";

const parameters = (setting: string) => {
  const found = parametersOf(setting);
  if (found === undefined) throw new Error(setting);
  return found;
};
const basketly = (setting = "guarded") => basketlySystem(parameters(setting));

/** The file as JSON would bring it, changed at one place. */
function changed(change: (system: Record<string, never>) => void): unknown {
  const data = JSON.parse(JSON.stringify(basketly()));
  change(data);
  return data;
}

function issues(data: unknown) {
  try {
    readSystem(data);
  } catch (error) {
    if (error instanceof SystemError) return error.issues;
    throw error;
  }
  return [];
}

describe("Basketly", () => {
  it.each(SETTINGS)("%s is a system file, in JSON too", (setting) => {
    const system = basketly(setting);
    expect(readSystem(JSON.parse(JSON.stringify(system)))).toEqual(system);
  });

  it("has prices only when a price takes time, and guards for them", () => {
    expect(Object.keys(basketly().services)).toEqual(["shop-api", "stock", "database"]);
    const system = basketlySystem({ ...parameters("guarded"), "prices.workMs": 1 });
    expect(readSystem(JSON.parse(JSON.stringify(system)))).toEqual(system);
    expect(system.services["shop-api"]?.operations.cart?.calls).toEqual(["prices.price", "stock.view"]);
    const { operations } = bindEdge(system, "shop-api", "prices");
    expect(operations.price).toMatchObject({ attemptTimeoutMs: 60, retry: { attempts: 2 } });
  });

  it("at a quarter is one shop-api, 32 places, 2 connections, and a quarter of the load", () => {
    const { services, workload } = basketlySystem(scaled(parameters("C0"), 0.25));
    expect(services["shop-api"]).toMatchObject({ instances: 1, places: 100 });
    expect(services.stock?.places).toBe(32);
    expect(services.database?.places).toBe(2);
    expect(Object.values(workload.actions).map(({ perSecond }) => perSecond)).toEqual([200, 300, 15]);
  });
});

describe("a system file", () => {
  // biome-ignore lint/suspicious/noExplicitAny: the point is to break the types
  type Any = any;
  it.each([
    ["a wrong number", (s: Any) => (s.services.stock.places = 0), "services.stock.places", 0],
    ["text for a number", (s: Any) => (s.services.stock.places = "8"), "services.stock.places", "8"],
    ["a field nobody reads", (s: Any) => (s.services.stock.place = 8), "services.stock.place", 8],
    [
      "a wrong word",
      (s: Any) => (s.edges["app -> shop-api"].wire.deadline = "x"),
      'edges["app -> shop-api"].wire.deadline',
      "x",
    ],
    [
      "a call to nobody",
      (s: Any) => (s.workload.actions.cart.call = "shop-api.basket"),
      "workload.actions.cart.call",
      "shop-api.basket",
    ],
    [
      "a call without guards",
      (s: Any) => delete s.edges["stock -> database"].operations.read,
      'edges["stock -> database"].operations.read',
      undefined,
    ],
    ["a fault in nothing", (s: Any) => (s.faults[0].service = "db"), "faults[0].service", "db"],
    ["a wrong version", (s: Any) => (s.version = 2), "version", 2],
  ])("names %s, the value and what is allowed", (_, change, path, value) => {
    const found = issues(changed(change as never));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ path, value });
    expect(found[0]?.allowed).not.toBe("");
  });

  it("names what only the core can refuse", () => {
    const [found] = issues(
      changed((system: Any) => {
        const guards = system.edges["shop-api -> stock"].operations.view;
        guards.retry = { attempts: 2, backoff: { kind: "fullJitter", baseMs: 50, capMs: 10 } };
      }),
    );
    expect(found?.path).toContain("capMs");
    expect(found?.allowed).toContain("at least baseMs");
  });

  it("lists all that is wrong", () => {
    const found = issues(
      changed((system: Any) => {
        system.services.stock.places = -1;
        system.services.database.places = 1.5;
      }),
    );
    expect(found.map(({ path }) => path)).toEqual(["services.stock.places", "services.database.places"]);
  });

  it("refuses services that call each other in a circle", () => {
    const found = issues(
      changed((system: Any) => {
        system.services.database.operations.read.calls = ["stock.view"];
        system.edges["database -> stock"] = { ...system.edges["shop-api -> stock"] };
      }),
    );
    expect(found[0]).toMatchObject({ path: "services", allowed: "calls without a circle" });
  });

  it("refuses what is no object at all", () => {
    for (const data of [null, 1, "x", [], undefined]) expect(issues(data).length).toBeGreaterThan(0);
  });
});

describe("binding", () => {
  it("takes a fallback of a kind as it is, and needs no function for it", () => {
    const withFallback = (fallback: unknown) =>
      readSystem(
        changed((system) => {
          Object.assign(
            (system as never as SystemFile).edges["shop-api -> stock"]?.operations.view as object,
            { fallback },
          );
        }),
        {},
      );
    for (const fallback of [
      { kind: "stale", maxAgeMs: 60_000 },
      { kind: "default", value: ["unknown"], exercise: 0.01 },
    ]) {
      const system = withFallback(fallback);
      expect(bindEdge(system, "shop-api", "stock").operations.view?.fallback).toEqual(fallback);
      expect(explainSystem(system).operations.length).toBeGreaterThan(0);
    }
    expect(() => withFallback({ kind: "stale" })).toThrow(SystemError);
  });

  it("looks functions up by name", () => {
    const run = () => "no badges";
    const edge = bindEdge(
      basketly(),
      "shop-api",
      "stock",
      { fallbacks: { [WITHOUT_BADGES]: run } },
      "stock.1",
    );
    expect(edge.operations.view?.fallback).toBe(run);
    expect(edge.operations.reserve?.fallback).toBe(undefined);
    expect(edge.dependency).toMatchObject({ name: "stock.1", bulkhead: { limit: 12 } });
    expect(() => bindEdge(basketly(), "shop-api", "stock", { fallbacks: { other: run } })).toThrow(
      /fallback: "withoutBadges" is not allowed; allowed: other/,
    );
  });

  it("names the edges there are", () => {
    expect(() => bindEdge(basketly(), "app", "stock")).toThrow(/app -> shop-api, shop-api -> stock/);
  });

  it("turns the typed-out absence of a bound into Infinity", () => {
    const system = basketly("C0") as { edges: Record<string, object> } & SystemFile;
    const edge = system.edges["app -> shop-api"] as SystemFile["edges"][string];
    const queue = { maxWaiting: "unbounded", maxWaitMs: 5 } as const;
    const edges = { ...system.edges, "app -> shop-api": { ...edge, bulkhead: { limit: 1, queue } } };
    const bound = bindEdge({ ...system, edges }, "app", "shop-api");
    expect(bound.dependency.bulkhead?.queue).toEqual({ maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: 5 });
  });

  it("leaves the bounds of a queue that are not said to the queue's own defaults", () => {
    const system = basketly("C0") as { edges: Record<string, object> } & SystemFile;
    const edge = system.edges["app -> shop-api"] as SystemFile["edges"][string];
    const bulkhead = { limit: 1, queue: { maxWaiting: 3, maxBytes: 1_000 } };
    const edges = { ...system.edges, "app -> shop-api": { ...edge, bulkhead } };
    const loaded = readSystem({ ...system, edges });
    const bound = bindEdge(loaded, "app", "shop-api");
    expect(bound.dependency.bulkhead?.queue).toEqual({ maxWaiting: 3, maxBytes: 1_000 });
  });

  it("keeps an attempt from starting with no more than the margin left", () => {
    const system = basketlySystem({ ...parameters("C1"), "deadline.marginMs": 1 });
    expect(bindEdge(system, "shop-api", "stock").operations.view?.minUsefulMs).toBe(1.001);
  });
});

it("says what is missing in words of its own", () => {
  expect(() => readSystem({})).toThrow(
    "name: nothing is not allowed; allowed: a text\nworkload: nothing is not allowed; allowed: an object",
  );
});

it("has a JSON Schema that forbids what it does not know", () => {
  expect(jsonSchema).toMatchObject({ type: "object", additionalProperties: false });
  expect(JSON.stringify(jsonSchema)).toContain('"unbounded"');
});

it("what stands in its place is told in a line, whatever it is", () => {
  const round: Record<string, unknown> = {};
  round.itself = round;
  let deep: unknown = [];
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  const throws = {
    toJSON: () => {
      throw new Error("not even that");
    },
  };
  for (const value of [round, deep, throws, { big: 10n }]) {
    expect(() => readSystem({ version: 1, name: value })).toThrow(/^name: an (object|array) is not allowed/);
  }
  for (const value of [null, [], deep]) expect(() => readSystem(value)).toThrow(/^the file: /);
});
