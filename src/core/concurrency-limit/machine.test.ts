import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OptionError } from "../errors.ts";
import { aimd, type ConcurrencyLimit, concurrencyLimit, type LimitSpec, latencyAimd } from "./machine.ts";

const half = () => 0.5;

/** A dependency that works on `capacity` calls at once for `baseMs` each, and queues the rest; fed with `offered`. */
function drive(limit: ConcurrencyLimit, seconds: number, capacity: number, offered: number, baseMs = 100) {
  const limits: number[] = [];
  for (let tick = 0; tick < seconds * 10; tick++) {
    const now = tick * 100;
    const inFlight = Math.min(limit.limit, offered);
    const latencyMs = baseMs * Math.max(1, inFlight / capacity);
    for (let i = 0; i < inFlight; i++) limit.sample(now - latencyMs, now, inFlight);
    limits.push(limit.limit);
  }
  return limits;
}

describe("aimd", () => {
  it("adds a place for each limit's worth of good answers while it is in use", () => {
    const limit = concurrencyLimit(aimd({ initial: 10, max: 12 }), half);
    for (let i = 0; i < 9; i++) limit.sample(0, 1, 10);
    expect(limit.limit).toBe(10);
    limit.sample(0, 1, 10);
    expect(limit.limit).toBe(11);
    for (let i = 0; i < 1_000; i++) limit.sample(0, 1, 10);
    expect(limit.limit).toBe(12);
  });

  it("does not grow while less than half of it is in use", () => {
    const limit = concurrencyLimit(aimd({ initial: 10 }), half);
    for (let i = 0; i < 1_000; i++) limit.sample(0, 1, 4);
    expect(limit.limit).toBe(10);
  });

  it("cuts once for one overload, however many calls meet it", () => {
    const limit = concurrencyLimit(aimd({ initial: 100, cut: 0.5 }), half);
    for (let i = 0; i < 100; i++) limit.overloaded(0, 50);
    expect(limit.limit).toBe(50);
    limit.overloaded(51, 90);
    expect(limit.limit).toBe(25);
  });

  it("always moves at a cut, and stops at its least", () => {
    const limit = concurrencyLimit(aimd({ initial: 4, min: 2, cut: 0.99 }), half);
    for (let at = 1; at < 10; at++) limit.overloaded(at, at);
    expect(limit.limit).toBe(2);
  });
});

describe("latencyAimd", () => {
  it("multiplies by 0.8 under pressure and adds one without (the resilience notes, §12)", () => {
    const limit = concurrencyLimit(latencyAimd({ initial: 20, baselineMs: 10, minSamples: 1 }), half);
    limit.sample(0, 0, 20); // the first interval begins
    limit.sample(5, 15, 20);
    limit.sample(1_010, 1_020, 20); // the second
    expect(limit.limit).toBe(21);
    limit.sample(1_030, 1_055, 20);
    limit.sample(2_100, 2_110, 20);
    expect(limit.limit).toBe(16);
  });

  it("settles near what the dependency can do at once, and stays there (case 094)", () => {
    const limit = concurrencyLimit(latencyAimd({ initial: 20 }), half);
    const last = drive(limit, 1_200, 20, 1_000).slice(-3_000);
    expect(Math.max(...last)).toBeLessThanOrEqual(2 * 20);
    expect(last.reduce((sum, each) => sum + each, 0) / last.length).toBeGreaterThan(18);
  });

  it("falls when the dependency becomes slower, before anything fails", () => {
    const limit = concurrencyLimit(latencyAimd({ initial: 20 }), half);
    drive(limit, 30, 40, 1_000);
    const before = limit.limit;
    for (let tick = 0; tick < 50; tick++) {
      const now = 30_000 + tick * 100;
      for (let i = 0; i < limit.limit; i++) limit.sample(now - 400, now, limit.limit);
    }
    expect(limit.limit).toBeLessThan(before * 0.6);
  });

  it("does not grow on idle", () => {
    const limit = concurrencyLimit(latencyAimd({ initial: 20 }), half);
    expect(drive(limit, 600, 20, 5).at(-1)).toBe(20);
  });
});

describe("any rule", () => {
  it("stays within its bounds, whole, whatever happens", () => {
    const events = fc.array(
      fc.tuple(
        fc.boolean(),
        fc.integer({ min: 0, max: 3_000 }),
        fc.integer({ min: 0, max: 900 }),
        fc.nat(60),
      ),
      { maxLength: 300 },
    );
    const specs = fc.constantFrom<LimitSpec>(
      aimd({ min: 3, max: 30 }),
      latencyAimd({ min: 3, max: 30, minSamples: 1, intervalMs: 100 }),
    );
    fc.assert(
      fc.property(specs, events, (spec, steps) => {
        const limit = concurrencyLimit(spec, half);
        let now = 0;
        for (const [good, gap, age, inFlight] of steps) {
          now += gap;
          if (good) limit.sample(now - age, now, inFlight);
          else limit.overloaded(now - age, now);
          expect(limit.limit).toBeGreaterThanOrEqual(3);
          expect(limit.limit).toBeLessThanOrEqual(30);
          expect(Number.isInteger(limit.limit)).toBe(true);
        }
      }),
    );
  });

  it("refuses wrong options by name", () => {
    const wrong: [LimitSpec, string][] = [
      [aimd({ min: 0 }), "limit.min"],
      [aimd({ min: 5, max: 4 }), "limit.max"],
      [aimd({ initial: 300 }), "limit.initial"],
      [aimd({ cut: 1 }), "limit.cut"],
      [latencyAimd({ high: 1.2 }), "limit.high"],
      [latencyAimd({ baselineMs: 0 }), "limit.baselineMs"],
      [latencyAimd({ intervalMs: Number.NaN }), "limit.intervalMs"],
      [{ kind: "vegas" } as never, "limit.kind"],
      [{ kind: "aimd", high: 3 } as never, "limit.high"],
    ];
    for (const [spec, field] of wrong) {
      expect(() => concurrencyLimit(spec, half), field).toThrow(OptionError);
      expect(() => concurrencyLimit(spec, half), field).toThrow(field);
    }
  });
});
