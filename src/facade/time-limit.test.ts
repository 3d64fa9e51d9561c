import { describe, expect, it } from "vitest";
import { OptionError, RefusedError } from "../core/index.ts";
import { VirtualRuntime } from "../testing/index.ts";
import { dependency } from "./dependency.ts";
import { timeLimit } from "./time-limit.ts";

describe("the 900 ms of the resilience notes (§02)", () => {
  const order = (runtime: VirtualRuntime) => timeLimit({ ms: 900, name: "order" }, runtime);

  it("gives each step its slice, and what is left when that is less", () => {
    const runtime = new VirtualRuntime();
    const request = order(runtime);
    runtime.advance(150); // the gateway and own work
    const inventory = request.slice("inventory", { ms: 350, reserveMs: 220 + 80 + 100 });
    expect(inventory.timeLeftMs).toBe(350);
    runtime.advance(350);
    const pricing = request.slice("pricing", { ms: 220, reserveMs: 80 + 100 });
    expect(pricing.timeLeftMs).toBe(220);
    expect(request.timeLeftMs).toBe(400);
  });

  it("takes lost time from the steps that have not begun, never from what is reserved", () => {
    const runtime = new VirtualRuntime();
    const request = order(runtime);
    runtime.advance(600);
    expect(request.timeLeftMs).toBe(300);
    const pricing = request.slice("pricing", { ms: 220, reserveMs: 80 + 100 });
    expect(pricing.timeLeftMs).toBe(120);
    expect(pricing.name).toBe("order.pricing");
  });

  it("refuses a step that has too little time, by its name, before it starts", () => {
    const runtime = new VirtualRuntime();
    const request = order(runtime);
    runtime.advance(700);
    const refused = () => request.slice("pricing", { ms: 220, reserveMs: 180, minMs: 50 });
    expect(refused).toThrow(RefusedError);
    expect(refused).toThrow("order.pricing: refused by deadline (too little time left)");
    runtime.advance(200);
    expect(() => request.check()).toThrow("refused by deadline (expired)");
  });
});

it("is shared by branches side by side: 700 ms for two calls, not 350 each", async () => {
  const runtime = new VirtualRuntime();
  const both = timeLimit({ ms: 900 }, runtime).slice("lookups", { ms: 700 });
  const deadlines: number[] = [];
  const stock = dependency({ name: "stock" }, runtime).operation("view", { attemptTimeoutMs: 2_000 });
  await Promise.all(
    [0, 1].map(() =>
      stock(
        (attempt) => {
          deadlines.push(attempt.deadline);
          return 1;
        },
        { deadline: both.deadline },
      ),
    ),
  );
  expect(deadlines).toEqual([700, 700]);
});

it("can be cut again and again, never beyond what it was cut from", () => {
  const runtime = new VirtualRuntime();
  const outer = timeLimit({ ms: 100 }, runtime);
  const inner = outer.slice("a", { ms: 500 }).slice("b").slice("c", { reserveMs: 30 });
  expect([inner.timeLeftMs, inner.name]).toEqual([70, "request.a.b.c"]);
});

it("refuses wrong options by name", () => {
  const runtime = new VirtualRuntime();
  expect(() => timeLimit({ ms: 0 }, runtime)).toThrow("timeLimit.ms");
  expect(() => timeLimit({ ms: 10, name: "" }, runtime)).toThrow(OptionError);
  expect(() => timeLimit({ ms: 10, deadline: 3 } as never, runtime)).toThrow("timeLimit.deadline");
  const limit = timeLimit({ ms: 100 }, runtime);
  expect(() => limit.slice("x", { ms: -1 })).toThrow('slice("x").ms');
  expect(() => limit.slice("x", { reserveMs: Number.NaN })).toThrow('slice("x").reserveMs');
  expect(() => limit.slice("x", { share: 1 } as never)).toThrow('slice("x").share');
});
