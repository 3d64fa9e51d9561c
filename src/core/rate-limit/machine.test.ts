import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OptionError } from "../errors.ts";
import { TokenBucket } from "./machine.ts";

/** Takes what it may of `calls` at `now`. */
function admitted(bucket: TokenBucket, calls: number, now: number, cost = 1): number {
  let count = 0;
  for (let i = 0; i < calls; i++) {
    if (bucket.waitMs(cost, now) > 0) continue;
    bucket.take(cost, now);
    count++;
  }
  return count;
}

describe("a token bucket", () => {
  it("lets a burst through, then one each interval", () => {
    const bucket = new TokenBucket({ limit: 10, burst: 3 });
    expect(admitted(bucket, 10, 5_000)).toBe(3);
    expect(bucket.waitMs(1, 5_000)).toBeCloseTo(100, 6);
    expect(admitted(bucket, 10, 5_099)).toBe(0);
    expect(admitted(bucket, 10, 5_100)).toBe(1);
    expect(admitted(bucket, 10, 60_000)).toBe(3);
  });

  it("admits a whole window's worth by default, thirds included", () => {
    const bucket = new TokenBucket({ limit: 3 });
    expect(admitted(bucket, 10, 1_234.567)).toBe(3);
    expect(admitted(bucket, 10, 2_234.567)).toBe(3);
  });

  it("charges a cost, and says when it can be paid", () => {
    const bucket = new TokenBucket({ limit: 100, windowMs: 1_000, burst: 50 });
    bucket.take(40, 0);
    expect(bucket.level(0)).toBe(10);
    expect(bucket.waitMs(20, 0)).toBeCloseTo(100, 6);
    expect(bucket.waitMs(51, 0)).toBe(Infinity);
  });

  it("keeps a quota of 30 days without a timer (case 088)", () => {
    const bucket = new TokenBucket({ limit: 5, windowMs: 2_592_000_000 });
    expect(admitted(bucket, 6, 1_000)).toBe(5);
    expect(admitted(bucket, 6, 86_400_000)).toBe(0);
  });

  it("gains nothing from a clock that steps back (case 085)", () => {
    const bucket = new TokenBucket({ limit: 10, burst: 2 });
    expect(admitted(bucket, 5, 10_000)).toBe(2);
    expect(admitted(bucket, 5, 9_000)).toBe(0);
    expect(admitted(bucket, 5, 10_100)).toBe(1);
  });

  it("never admits more than burst + time × rate, whatever the arrivals", () => {
    const arrivals = fc.array(
      fc.tuple(fc.double({ min: 0, max: 500, noNaN: true }), fc.integer({ min: 1, max: 4 })),
      {
        maxLength: 200,
      },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        arrivals,
        (limit, burst, gaps) => {
          const bucket = new TokenBucket({ limit, burst });
          const taken: [number, number][] = [];
          let now = 1_000;
          for (const [gap, cost] of gaps) {
            now += gap;
            if (bucket.waitMs(cost, now) > 0) continue;
            bucket.take(cost, now);
            taken.push([now, cost]);
          }
          for (const [index, [from]] of taken.entries()) {
            let sum = 0;
            for (const [at, cost] of taken.slice(index)) {
              sum += cost;
              expect(sum).toBeLessThanOrEqual(burst + ((at - from) * limit) / 1_000 + 1e-6);
            }
          }
        },
      ),
    );
  });

  it("refuses wrong options by name", () => {
    for (const limit of [0, -1, Number.NaN, Infinity, "5", null, 2e9]) {
      expect(() => new TokenBucket({ limit } as never), String(limit)).toThrow(OptionError);
    }
    expect(() => new TokenBucket({ limit: 1, windowMs: 0 })).toThrow("rateLimit.windowMs");
    expect(() => new TokenBucket({ limit: 1, burst: 0 })).toThrow("rateLimit.burst");
    expect(() => new TokenBucket({ limit: 1, perSecond: 3 } as never)).toThrow("rateLimit.perSecond");
  });
});
