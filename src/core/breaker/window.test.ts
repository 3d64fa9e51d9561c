import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CountWindow, TimeWindow, type Window } from "./window.ts";

const fill = (window: Window, outcomes: string): void => {
  for (const outcome of outcomes) window.add(outcome === "x", 0);
};

describe("CountWindow", () => {
  it("remembers the last so many, and forgets the oldest", () => {
    const window = new CountWindow(3);
    fill(window, "x.");
    expect(window).toMatchObject({ total: 2, failures: 1 });
    fill(window, "x.");
    expect(window).toMatchObject({ total: 3, failures: 1 });
    fill(window, "...");
    expect(window).toMatchObject({ total: 3, failures: 0 });
  });

  it("equals a naive list, over word borders too (property)", () => {
    const sizes = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom(29, 30, 31, 59, 60, 61, 90, 100));
    fc.assert(
      fc.property(sizes, fc.array(fc.boolean(), { maxLength: 400 }), (calls, outcomes) => {
        const window = new CountWindow(calls);
        outcomes.forEach((failed, at) => {
          window.add(failed);
          const last = outcomes.slice(Math.max(0, at + 1 - calls), at + 1);
          if (window.total !== last.length || window.failures !== last.filter(Boolean).length)
            throw new Error(`after ${at + 1}: ${window.failures} of ${window.total}`);
        });
      }),
    );
  });
});

describe("TimeWindow", () => {
  it("counts in ten buckets, and forgets one at a time", () => {
    const window = new TimeWindow(100);
    window.add(true, 5);
    window.add(false, 15);
    expect(window).toMatchObject({ total: 2, failures: 1 });
    window.add(false, 104);
    expect(window).toMatchObject({ total: 2, failures: 0 });
    window.add(false, 1_000_000);
    expect(window).toMatchObject({ total: 1, failures: 0 });
  });

  it("equals a naive list of what is in the present and the nine buckets before (property)", () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.boolean()), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 400 }), fc.nat({ max: 1e6 }), steps, (ms, startAt, outcomes) => {
        const window = new TimeWindow(ms);
        const seen: [bucket: number, failed: boolean][] = [];
        let now = startAt;
        for (const [later, failed] of outcomes) {
          now += later;
          window.add(failed, now);
          const bucket = Math.floor(now / (ms / 10));
          seen.push([bucket, failed]);
          const inside = seen.filter(([at]) => at > bucket - 10);
          if (window.total !== inside.length || window.failures !== inside.filter(([, bad]) => bad).length)
            throw new Error(`at ${now}: ${window.failures} of ${window.total}`);
        }
      }),
    );
  });
});
