import { expect, it } from "vitest";
import { LogHash } from "./hash.ts";

const hash = (...entries: [number, number, number][]): string => {
  const log = new LogHash();
  for (const [at, code, detail] of entries) log.add(at, code, detail);
  return log.text;
};

it("depends on every part of an entry, and on the order", () => {
  const base = hash([1, 2, 3], [4, 5, 6]);
  expect(base).toMatch(/^[0-9a-f]{16}$/);
  const others = [
    hash([4, 5, 6], [1, 2, 3]),
    hash([1 + 1 / 1024, 2, 3], [4, 5, 6]),
    hash([1, 3, 3], [4, 5, 6]),
    hash([1, 2, 4], [4, 5, 6]),
    hash([1, 2, 3]),
    hash([1, 2, 3], [4, 5, 6], [4, 5, 6]),
    hash(),
  ];
  expect(new Set([base, ...others]).size).toBe(others.length + 1);
  expect(hash([1, 2, 3], [4, 5, 6])).toBe(base);
});

it("does not collide on a hundred thousand logs that differ in one number", () => {
  const seen = new Set<string>();
  for (let n = 0; n < 100_000; n++) seen.add(hash([n % 1_000, 1, Math.floor(n / 1_000)], [5, 1, 1]));
  expect(seen.size).toBe(100_000);
});
