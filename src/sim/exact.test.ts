import { expect, it } from "vitest";
import { SeededRandom } from "../core/random.ts";
import { exponential, lnOfWhole, rounded } from "./exact.ts";

it("is the natural logarithm, to the last bits, for every size of number", () => {
  const random = new SeededRandom(1);
  const numbers = [1, 2, 3, 2 ** 31, 2 ** 32 - 1, 2 ** 32];
  for (let bits = 1; bits <= 32; bits++) numbers.push(1 + Math.floor(random.next() * 2 ** bits));
  for (const n of numbers) expect(Math.abs(lnOfWhole(n) - Math.log(n))).toBeLessThanOrEqual(4e-15);
});

it("draws with the mean, the spread and the tail of an exponential distribution", () => {
  const random = new SeededRandom(2);
  const draws = Array.from({ length: 200_000 }, () => exponential(4, random)).sort((a, b) => a - b);
  const mean = draws.reduce((sum, ms) => sum + ms, 0) / draws.length;
  const square = draws.reduce((sum, ms) => sum + ms * ms, 0) / draws.length;
  expect(mean).toBeCloseTo(4, 1);
  expect(square).toBeGreaterThan(31.4);
  expect(square).toBeLessThan(32.6);
  expect(draws[Math.floor(draws.length * 0.99)]).toBeCloseTo(4 * Math.log(100), 0);
  expect(draws[0]).toBeGreaterThanOrEqual(0);
  expect(draws.at(-1)).toBeLessThan(23 * 4);
});

it("gives durations whose sums are exact", () => {
  const random = new SeededRandom(3);
  for (let i = 0; i < 1_000; i++) {
    const [a, b] = [exponential(7, random), exponential(7, random)];
    expect(50_000 + a + b - a - b).toBe(50_000);
    expect(Number.isInteger(a * 1024)).toBe(true);
  }
  expect(rounded(0.1)).toBe(102 / 1024);
});
