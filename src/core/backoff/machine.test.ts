import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Random, SeededRandom } from "../random.ts";
import { MAX_TIMER_MS } from "../runtime.ts";
import {
  Backoff,
  type BackoffSpec,
  constant,
  decorrelatedJitter,
  equalJitter,
  exponential,
  fullJitter,
  immediately,
} from "./machine.ts";

/** Chance that always says the same. */
const always = (value: number): Random => ({ next: () => value, fork: () => always(value) });
const first = (spec: BackoffSpec, count: number, random = always(0.5)): number[] => {
  const backoff = new Backoff(spec);
  const waits: number[] = [];
  for (let repeat = 1; repeat <= count; repeat++)
    waits.push(backoff.delayMs(repeat, waits.at(-1) ?? 0, random));
  return waits;
};

describe("Backoff", () => {
  it("grows as its formula says, up to the cap", () => {
    expect(first(exponential({ baseMs: 100, capMs: 1000 }), 6)).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(first(exponential({ baseMs: 100, capMs: 1000, factor: 3 }), 4)).toEqual([100, 300, 900, 1000]);
    expect(first(fullJitter({ baseMs: 100, capMs: 1000 }), 5)).toEqual([50, 100, 200, 400, 500]);
    expect(first(equalJitter({ baseMs: 100, capMs: 1000 }), 5)).toEqual([75, 150, 300, 600, 750]);
    expect(first(decorrelatedJitter({ baseMs: 100, capMs: 400 }), 5)).toEqual([100, 200, 350, 400, 400]);
    expect(first(constant(7), 3)).toEqual([7, 7, 7]);
    expect(first(immediately, 3)).toEqual([0, 0, 0]);
  });

  it("has the defaults of its sources: full jitter, 50 ms, 20 s, doubling", () => {
    const backoff = new Backoff();
    expect(backoff.spec).toEqual({ kind: "fullJitter" });
    const ceilings = [1, 2, 3, 9, 10, 50].map((repeat) => backoff.delayMs(repeat, 0, always(1)));
    expect(ceilings).toEqual([50, 100, 200, 12_800, 20_000, 20_000]);
  });

  it("spreads over the whole range with full jitter, and over its upper half with equal jitter", () => {
    const at = (spec: BackoffSpec, chance: number): number => new Backoff(spec).delayMs(1, 0, always(chance));
    expect([at(fullJitter(), 0), at(fullJitter(), 0.999)]).toEqual([0, 49.95]);
    expect([at(equalJitter(), 0), at(equalJitter(), 0.999)]).toEqual([25, 49.975]);
  });

  it("takes a cap below the default base, and refuses one below the given base", () => {
    expect(first(exponential({ capMs: 10 }), 3)).toEqual([10, 10, 10]);
    expect(() => new Backoff(exponential({ baseMs: 100, capMs: 50 }))).toThrow(/backoff\.capMs is 50/);
  });

  it("refuses what a function of yours must not return, by name", () => {
    for (const wrong of [NaN, -1, Infinity, 2 ** 31, "100" as never, null as never, undefined as never]) {
      const backoff = new Backoff(() => wrong);
      expect(() => backoff.delayMs(1, 0, always(0)), String(wrong)).toThrow(
        /the wait that backoff\(\) returned/,
      );
    }
    expect(new Backoff(() => MAX_TIMER_MS).delayMs(1, 0, always(0))).toBe(MAX_TIMER_MS);
  });

  it("hands a function the repeat, the wait before and the chance", () => {
    const heard: unknown[] = [];
    const random = always(0.25);
    new Backoff((...all) => {
      heard.push(...all);
      return 1;
    }).delayMs(3, 40, random);
    expect(heard).toEqual([3, 40, random]);
  });

  it("waits a finite time within 0 and the cap on each of 5,000 repeats (property)", () => {
    const spec = fc
      .record({
        kind: fc.constantFrom("fullJitter" as const, "equalJitter" as const, "exponential" as const),
        baseMs: fc.double({ min: 0.001, max: MAX_TIMER_MS, noNaN: true }),
        over: fc.double({ min: 1, max: 1e6, noNaN: true }),
        factor: fc.double({ min: 1, max: 1000, noNaN: true }),
        decorrelated: fc.boolean(),
      })
      .map(({ kind, baseMs, over, factor, decorrelated }): [BackoffSpec, number] => {
        const capMs = Math.min(MAX_TIMER_MS, baseMs * over);
        return decorrelated
          ? [{ kind: "decorrelatedJitter", baseMs, capMs }, capMs]
          : [{ kind, baseMs, capMs, factor }, capMs];
      });
    fc.assert(
      fc.property(spec, fc.integer(), ([made, capMs], seed) => {
        const backoff = new Backoff(made);
        const random = new SeededRandom(seed);
        let previous = 0;
        for (let repeat = 1; repeat <= 5000; repeat += repeat < 100 ? 1 : 97) {
          previous = backoff.delayMs(repeat, previous, random);
          if (!(previous >= 0 && previous <= capMs)) throw new Error(`wait ${repeat} is ${previous}`);
        }
      }),
    );
  });
});

it("refuses a field of another kind: nobody would read it", () => {
  const wrong = (spec: object) => () => new Backoff(spec as never);
  expect(wrong({ kind: "constant", delayMs: 5, factor: 2 })).toThrow("backoff.factor is 2; allowed: nothing");
  expect(wrong({ kind: "fullJitter", delayMs: 5 })).toThrow("backoff.delayMs is 5; allowed: nothing");
  expect(wrong({ kind: "none", baseMs: 5 })).toThrow("backoff.baseMs is 5; allowed: nothing");
});

it("keeps what was checked, whatever becomes of it later", () => {
  const spec = { kind: "constant" as const, delayMs: 5 };
  const backoff = new Backoff(spec);
  spec.delayMs = Number.NaN;
  expect(backoff.delayMs(1, 0, new SeededRandom(1))).toBe(5);
});
