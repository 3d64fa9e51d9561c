// The ceiling: down to what there is, up again by one, and each refusal doubles the wait.
import fc from "fast-check";
import { expect, it } from "vitest";
import { Ceiling } from "./ceiling.ts";

it("falls to the connections that there are, and rises by one after a growing time", () => {
  const ceiling = new Ceiling(8);
  expect(ceiling.rise(1e9)).toBe(false);
  ceiling.refused(0, 3);
  expect(ceiling.limit).toBe(3);
  ceiling.refused(0, 3); // another of the same burst
  expect([ceiling.rise(999), ceiling.limit]).toEqual([false, 3]);
  expect([ceiling.rise(1_000), ceiling.limit]).toEqual([true, 4]);
  ceiling.refused(1_000, 3);
  expect([ceiling.rise(2_999), ceiling.limit]).toEqual([false, 3]);
  expect([ceiling.rise(3_000), ceiling.limit]).toEqual([true, 4]);
  ceiling.connected(4);
  expect([ceiling.rise(6_999), ceiling.rise(7_000), ceiling.limit]).toEqual([false, true, 5]);
  ceiling.connected(5);
  expect([ceiling.rise(7_999), ceiling.rise(8_000), ceiling.limit]).toEqual([false, true, 6]);
});

it("counts connections that came after the refusal, in the same burst", () => {
  const ceiling = new Ceiling(8);
  ceiling.refused(0, 0);
  expect(ceiling.limit).toBe(1);
  for (const existing of [1, 2, 3]) ceiling.connected(existing);
  ceiling.refused(0, 3);
  expect(ceiling.limit).toBe(3);
});

it("waits no longer than a minute", () => {
  const ceiling = new Ceiling(2);
  let now = 0;
  for (let tries = 0; tries < 20; tries++) {
    ceiling.refused(now, 1);
    while (!ceiling.rise(now)) now += 500;
  }
  const before = now;
  ceiling.refused(now, 1);
  while (!ceiling.rise(now)) now += 500;
  expect(now - before).toBe(60_000);
});

it("keeps 1 ≤ limit ≤ size, whatever happens", () => {
  const step = fc.tuple(fc.constantFrom("refused", "connected", "rise"), fc.nat(12), fc.nat(100_000));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step), (size, steps) => {
      const ceiling = new Ceiling(size);
      let now = 0;
      for (const [what, existing, ms] of steps) {
        now += ms;
        if (what === "refused") ceiling.refused(now, existing);
        else if (what === "connected") ceiling.connected(existing);
        else ceiling.rise(now);
        expect(ceiling.limit).toBeGreaterThanOrEqual(1);
        expect(ceiling.limit).toBeLessThanOrEqual(size);
      }
    }),
  );
});
