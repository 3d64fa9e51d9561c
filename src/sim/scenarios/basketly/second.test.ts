import { expect, it } from "vitest";
import { meanOf, newSecond, recoveredAt, type Second } from "./second.ts";

const seconds = (first: number, ...goodput: number[]): Second[] =>
  goodput.map((value, index) => ({ ...newSecond(first + index), offered: 100, goodput: value }));

it("has recovered from the first second after which all are good", () => {
  expect(recoveredAt(seconds(0, 100, 95, 96))).toBe(0);
  expect(recoveredAt(seconds(0, 100, 94, 96, 100))).toBe(2);
  expect(recoveredAt(seconds(0, 100, 100, 94))).toBe(null);
  expect(recoveredAt(seconds(-2, 100, 100, 100))).toBe(0);
  expect(recoveredAt([])).toBe(null);
});

it("takes the mean of every figure, refusals too", () => {
  const one = newSecond(0);
  one.offered = 10;
  one.refused.budget = 4;
  const mean = meanOf([one, newSecond(1)]);
  expect(mean).toMatchObject({ offered: 5, refused: { budget: 2, breaker: 0 } });
  expect(mean).not.toHaveProperty("at");
});
