import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OptionError } from "../errors.ts";
import { LatencyWindow } from "./machine.ts";

describe("a latency window", () => {
  it("knows nothing before the first value", () => {
    expect(new LatencyWindow(1_000).percentile(0.5, 0)).toBeNull();
  });

  it("gives percentiles to within a sixteenth", () => {
    const values = fc.array(fc.double({ min: 0.2, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(values, fc.double({ min: 0.001, max: 1, noNaN: true }), (latencies, rank) => {
        const window = new LatencyWindow(60_000);
        for (const ms of latencies) window.record(ms, 5);
        const sorted = latencies.toSorted((a, b) => a - b);
        const exact = sorted[Math.ceil(rank * sorted.length) - 1] as number;
        const found = window.percentile(rank, 5) as number;
        expect(Math.abs(found - exact) / exact).toBeLessThanOrEqual(1 / 16 + 1 / 12);
      }),
    );
  });

  it("takes any value without harm", () => {
    const window = new LatencyWindow(1_000);
    for (const ms of [0, -3, 1e15, Number.MIN_VALUE]) window.record(ms, 0);
    expect(window.total(0)).toBe(4);
    expect(window.percentile(1, 0)).toBeGreaterThan(6e7);
  });

  it("covers between half and all of its length", () => {
    const window = new LatencyWindow(1_000);
    window.record(10, 0);
    window.record(20, 499);
    expect(window.total(999)).toBe(2);
    window.record(30, 999);
    expect(window.total(1_000)).toBe(1);
    expect(window.total(1_499)).toBe(1);
    expect(window.total(1_500)).toBe(0);
  });

  it("forgets everything after a rest", () => {
    const window = new LatencyWindow(1_000);
    for (let i = 0; i < 100; i++) window.record(10, 100);
    window.record(500, 10_000);
    expect(window.percentile(0.5, 10_000)).toBeGreaterThan(450);
  });

  it("refuses wrong options by name", () => {
    for (const ms of [0, 5, Number.NaN, Infinity, "9", 1e9]) {
      expect(() => new LatencyWindow(ms as never, "hedge.windowMs"), String(ms)).toThrow(OptionError);
    }
    expect(() => new LatencyWindow(1_000).percentile(1.5, 0)).toThrow("rank");
  });
});
