import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OptionError } from "../errors.ts";
import { PartialBreaker } from "./machine.ts";

/** Ten calls in each interval of 100 ms, of which `failing` fail, for so many intervals; the share at the end. */
function share(failing: number, intervals: number, options = {}): number {
  const breaker = new PartialBreaker({ intervalMs: 100, usualFailureRate: 0, ...options }, 0);
  for (let at = 0; at < intervals; at++)
    for (let call = 0; call < 10; call++) breaker.record(call < failing, at * 100 + call);
  return breaker.refusedShare(intervals * 100);
}

describe("the partial breaker", () => {
  it.each([
    [0, 0],
    [1, 1 / 9],
    [2, 1 / 4],
    [3, 3 / 7],
    [4, 2 / 3],
    [5, 0.99],
    [10, 0.99],
  ])("with %i of 10 failing settles at a share of %f", (failing, settled) => {
    expect(share(failing, 200)).toBeCloseTo(settled, 2);
  });

  it("refuses nothing for failures that are usual", () => {
    expect(share(1, 200, { usualFailureRate: 0.1 })).toBe(0);
    expect(share(2, 200, { usualFailureRate: 0.1 })).toBeGreaterThan(0.1);
  });

  it("rises within a few intervals, and falls slowly once nothing fails", () => {
    expect([share(10, 1), share(10, 2)]).toEqual([0.5, expect.closeTo(1 - 0.01, 1)]);
    const breaker = new PartialBreaker({ intervalMs: 100 }, 0);
    for (let at = 0; at < 30; at++) breaker.record(true, at * 100);
    expect(breaker.refusedShare(3_000)).toBe(0.99);
    // For ten intervals the failures are remembered; then it falls by a tenth and a little each.
    const shares = [9, 10, 11, 20, 60].map((after) => breaker.refusedShare(3_000 + after * 100));
    expect(shares.map((each) => Math.round(100 * each))).toEqual([99, 89, 80, 30, 0]);
    expect(breaker.mayRefuse).toBe(false);
  });

  it("makes up for the steps that were due, whoever asks and however late", () => {
    const [often, once] = [0, 1].map(() => new PartialBreaker({ intervalMs: 100 }, 0)) as [
      PartialBreaker,
      PartialBreaker,
    ];
    for (const breaker of [often, once])
      for (let at = 0; at < 20; at++) breaker.record(at % 2 === 0, at * 100);
    for (let now = 2_000; now < 4_000; now += 7) often.refusedShare(now);
    expect(once.refusedShare(4_000)).toBe(often.refusedShare(4_000));
    expect(once.refusedShare(1e12)).toBe(0); // and does not count them all one by one
  });

  it("gives the same answer until it has been decided on", () => {
    const breaker = new PartialBreaker({ intervalMs: 100 }, 0.4);
    breaker.record(true, 0);
    expect([breaker.refuses(100), breaker.refuses(100)]).toEqual([true, true]);
    breaker.decided(0.6);
    expect(breaker.refuses(100)).toBe(false);
  });

  it("keeps its share between 0 and maxRefused, whatever happens", () => {
    const outcomes = fc.array(fc.tuple(fc.boolean(), fc.nat(500)), { maxLength: 300 });
    fc.assert(
      fc.property(
        outcomes,
        fc.double({ min: 0.001, max: 1, noNaN: true }),
        fc.double({ min: 0.001, max: 1, noNaN: true }),
        fc.double({ min: 0.001, max: 0.999, noNaN: true }),
        (calls, rise, fall, maxRefused) => {
          const breaker = new PartialBreaker({ intervalMs: 100, rise, fall, maxRefused }, 0);
          let now = 0;
          for (const [failed, gapMs] of calls) {
            now += gapMs;
            breaker.record(failed, now);
            const at = breaker.refusedShare(now);
            expect(at >= 0 && at <= maxRefused).toBe(true);
            if (at > 0) expect(breaker.mayRefuse).toBe(true);
          }
        },
      ),
    );
  });

  it("refuses wrong options by name", () => {
    for (const [name, wrong] of [
      ["usualFailureRate", 0.6],
      ["intervalMs", 0],
      ["rise", 0],
      ["fall", 1.1],
      ["maxRefused", 1],
      ["windowMs", 1],
    ] as const) {
      expect(() => new PartialBreaker({ [name]: wrong }, 0)).toThrow(OptionError);
      expect(() => new PartialBreaker({ [name]: wrong }, 0)).toThrow(`partialBreaker.${name}`);
    }
  });
});
