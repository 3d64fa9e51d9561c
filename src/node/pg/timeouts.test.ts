// The grid, and what is sent when: the server is never told more than is left, nor the same thing twice.
import fc from "fast-check";
import { expect, it } from "vitest";
import { onGrid, stepBelow, Timeouts } from "./timeouts.ts";

it.each([
  [-5, 1],
  [0, 1],
  [0.9, 1],
  [1, 1],
  [31.9, 31],
  [32, 32],
  [33, 32],
  [63.99, 62],
  [64, 64],
  [67, 64],
  [127, 124],
  [1_000, 992],
  [60_000, 59_392],
  [2 ** 31 - 1, 2 ** 31 - 2 ** 26],
  [1e12, 2 ** 31 - 2 ** 26],
])("%d ms is %d on the grid", (ms, point) => {
  expect(onGrid(ms)).toBe(point);
});

const anyMs = fc.double({ min: 1, max: 2 ** 31 - 1, noNaN: true });

it("is never late, at most 1/16 and a fraction of a ms early, and monotonic", () => {
  fc.assert(
    fc.property(anyMs, anyMs, (one, other) => {
      const point = onGrid(one);
      expect(point).toBeLessThanOrEqual(one);
      expect(Math.floor(one) - point).toBeLessThan(Math.max(1, one / 16));
      expect(onGrid(point)).toBe(point);
      if (one <= other) expect(point).toBeLessThanOrEqual(onGrid(other));
    }),
  );
});

it("has 16 points in each power of two", () => {
  const points = new Set(Array.from({ length: 1024 }, (_, index) => onGrid(1024 + index)));
  expect(points.size).toBe(16);
  expect(stepBelow(1024)).toBe(992);
  expect(stepBelow(33)).toBe(32);
  expect(stepBelow(1)).toBe(1);
});

it("sends what has changed, and nothing else", () => {
  const told = new Timeouts();
  expect(told.change(Infinity, Infinity)).toBeNull();
  expect(told.change(60.4, Infinity)).toBe("SET statement_timeout TO 60");
  expect(told.limitMs).toBe(60);
  expect(told.change(61.9, Infinity)).toBeNull();
  expect(told.change(58, 20)).toBe("SET statement_timeout TO 58;SET lock_timeout TO 20");
  expect(told.change(59, 20)).toBeNull();
  told.forget();
  expect(told.change(59, 20)).toBe("SET statement_timeout TO 58;SET lock_timeout TO 20");
  expect(told.change(Infinity, Infinity)).toBe(
    "SET statement_timeout TO DEFAULT;SET lock_timeout TO DEFAULT",
  );
  expect(told.limitMs).toBe(Infinity);
  told.forget();
  expect(told.change(Infinity, Infinity)).toContain("DEFAULT");
});

it("keeps a lock's limit below the statement's, so that the two can be told apart", () => {
  fc.assert(
    fc.property(anyMs, anyMs, (leftMs, lockMs) => {
      const told = new Timeouts();
      const [, lock = 0] = /lock_timeout TO (\d+)/.exec(told.change(leftMs, lockMs) ?? "") ?? [];
      expect(Number(lock)).toBeLessThanOrEqual(Math.max(1, lockMs));
      if (told.limitMs > 1) expect(Number(lock)).toBeLessThan(told.limitMs);
    }),
  );
});
