import fc from "fast-check";
import { expect, it } from "vitest";
import { hash32, SeededRandom } from "./random.ts";

const draw = (random: SeededRandom, count: number): number[] =>
  Array.from({ length: count }, () => random.next());

it("draws the same numbers for the same seed, always and everywhere", () => {
  expect(draw(new SeededRandom(1), 4)).toMatchInlineSnapshot(`
    [
      0.274772425647825,
      0.4235194174107164,
      0.7529995522927493,
      0.9458071819972247,
    ]
  `);
  expect(draw(new SeededRandom(0xffff_ffff), 2)).toMatchInlineSnapshot(`
    [
      0.07900048512965441,
      0.5597647116519511,
    ]
  `);
  expect(draw(new SeededRandom(1).fork("retry stock.view"), 2)).toMatchInlineSnapshot(`
    [
      0.06784225557930768,
      0.017931223148480058,
    ]
  `);
  expect([hash32(""), hash32("a"), hash32("a", 1), hash32("breaker stock.view", 7)]).toMatchInlineSnapshot(`
    [
      2872998923,
      444641715,
      3873127206,
      3864268197,
    ]
  `);
});

it("forks by name alone: never by how much either has drawn", () => {
  const fresh = new SeededRandom(5);
  const used = new SeededRandom(5);
  draw(used, 1000);
  expect(draw(used.fork("a"), 10)).toEqual(draw(fresh.fork("a"), 10));
  expect(draw(fresh.fork("a"), 10)).not.toEqual(draw(fresh.fork("b"), 10));
  expect(draw(new SeededRandom(6).fork("a"), 10)).not.toEqual(draw(fresh.fork("a"), 10));
});

it("stays in [0, 1) and is about uniform, for similar seeds and names too (property)", () => {
  fc.assert(
    fc.property(fc.integer(), fc.string(), (seed, name) => {
      const random = new SeededRandom(seed).fork(name);
      const buckets = new Array<number>(10).fill(0);
      for (let i = 0; i < 2000; i++) {
        const value = random.next();
        if (!(value >= 0 && value < 1)) throw new Error(`${value} is outside`);
        const at = Math.floor(value * 10);
        buckets[at] = (buckets[at] as number) + 1;
      }
      // Twelve standard deviations: what fails this is broken, not unlucky.
      for (const count of buckets) expect(Math.abs(count - 200)).toBeLessThan(160);
    }),
  );
});

it("does not correlate neighbouring seeds", () => {
  const firsts = Array.from({ length: 1000 }, (_, seed) => new SeededRandom(seed).next());
  const mean = firsts.reduce((sum, value) => sum + value, 0) / firsts.length;
  expect(mean).toBeGreaterThan(0.45);
  expect(mean).toBeLessThan(0.55);
  expect(new Set(firsts).size).toBe(1000);
});
