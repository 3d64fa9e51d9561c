import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OptionError } from "../errors.ts";
import { nextDue, stableOffset } from "./machine.ts";

describe("a stable offset", () => {
  it("is the same for the same id, and within its period", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 2_147_483_647 }), (id, periodMs) => {
        const offset = stableOffset(id, periodMs);
        expect(offset).toBe(stableOffset(id, periodMs));
        expect(offset).toBeGreaterThanOrEqual(0);
        expect(offset).toBeLessThan(periodMs);
        expect(Number.isInteger(offset)).toBe(true);
      }),
    );
  });

  it("spreads ids that differ in a digit evenly", () => {
    const tenths = new Array<number>(10).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const at = Math.floor(stableOffset(`agent-${i}`, 60_000) / 6_000);
      tenths[at] = (tenths[at] as number) + 1;
    }
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it("refuses a period that is none", () => {
    for (const period of [0, -1, Number.NaN, Infinity, 2 ** 31]) {
      expect(() => stableOffset("a", period)).toThrow(OptionError);
    }
  });
});

it("is due once in every period, always after now", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.integer({ min: 1, max: 100_000 }),
      fc.nat(),
      (now, periodMs, raw) => {
        const offset = raw % periodMs;
        const due = nextDue(now, offset, periodMs);
        expect(due).toBeGreaterThan(now);
        expect(due - now).toBeLessThanOrEqual(periodMs);
        expect((due - offset) % periodMs).toBe(0);
        expect(nextDue(due, offset, periodMs)).toBe(due + periodMs);
      },
    ),
  );
});
