import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OptionError } from "../errors.ts";
import { Keyed } from "./machine.ts";

interface Made {
  readonly key: string;
  readonly number: number;
}

function keyed(options = {}) {
  let made = 0;
  return new Keyed<Made>((key) => ({ key, number: ++made }), options, "breaker.keys");
}

describe("machines by key", () => {
  it("makes one for each key, and gives the same one again", () => {
    const machines = keyed();
    const first = machines.of("a", 0);
    expect(machines.of("b", 1)).not.toBe(first);
    expect(machines.of("a", 2)).toBe(first);
    expect(machines.size).toBe(2);
  });

  it("keeps a key in use, and forgets one that rests", () => {
    const machines = keyed({ idleMs: 100 });
    const used = machines.of("used", 0);
    const resting = machines.of("resting", 0);
    for (let now = 10; now <= 400; now += 10) expect(machines.of("used", now)).toBe(used);
    expect(machines.peek("resting")).toBeUndefined();
    expect(machines.of("resting", 410)).not.toBe(resting);
  });

  it("keeps a key that is used once within its time", () => {
    const machines = keyed({ idleMs: 100 });
    const rare = machines.of("rare", 0);
    expect(machines.of("rare", 99)).toBe(rare);
    expect(machines.of("rare", 198)).toBe(rare);
    expect(machines.of("rare", 297)).toBe(rare);
  });

  it("keeps the key that is asked for when there is no room for it among the younger", () => {
    const machines = keyed({ maxKeys: 4 });
    const a = machines.of("a", 0);
    for (const key of ["b", "c", "d"]) machines.of(key, 0); // a and b are the older ones now
    expect(machines.of("a", 0)).toBe(a);
    expect([...machines.entries()].map(([key]) => key)).toEqual(["c", "d", "a"]);
  });

  it("forgets everything after a long rest", () => {
    const machines = keyed({ idleMs: 100 });
    const before = machines.of("a", 0);
    expect(machines.of("a", 500)).not.toBe(before);
  });

  it("never holds more than it may, whoever asks, and counts whom it crowded out (case 082)", () => {
    const machines = keyed({ maxKeys: 1_000 });
    const own = machines.of("own", 0);
    for (let i = 0; i < 100_000; i++) {
      machines.of(`stranger ${i}`, i / 1_000);
      if (i % 400 === 0) expect(machines.of("own", i / 1_000)).toBe(own);
      expect(machines.size).toBeLessThanOrEqual(1_000);
    }
    expect(machines.crowdedOut).toBeGreaterThan(98_000);
  });

  it("holds at most maxKeys and never two machines for one key at a time", () => {
    const steps = fc.array(fc.tuple(fc.nat(40), fc.nat(30)), { maxLength: 400 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 2, max: 20 }), (uses, maxKeys) => {
        const machines = keyed({ maxKeys, idleMs: 50 });
        let now = 0;
        for (const [key, gap] of uses) {
          now += gap;
          const machine = machines.of(`${key}`, now);
          expect(machine.key).toBe(`${key}`);
          expect(machines.of(`${key}`, now)).toBe(machine);
          expect(machines.size).toBeLessThanOrEqual(maxKeys);
          const keys = [...machines.entries()].map(([each]) => each);
          expect(new Set(keys).size).toBe(keys.length);
        }
      }),
    );
  });

  it("never forgets one that is in use, however many others come, and grows by no more than those", () => {
    const used = new Set<string>();
    const machines = new Keyed<Made>(
      (key) => ({ key, number: 1 }),
      { maxKeys: 10, idleMs: 50 },
      "keys",
      ({ key }) => used.has(key),
    );
    const held = ["a", "b", "c", "d", "e", "f", "g"].map((key) => {
      used.add(key);
      return machines.of(key, 0);
    });
    for (let i = 0; i < 1_000; i++) {
      machines.of(`other ${i}`, i);
      expect(machines.size).toBeLessThanOrEqual(10 + 2 * 7);
    }
    expect(held.map(({ key }) => machines.peek(key))).toEqual(held);
    expect(held.map(({ key }) => machines.of(key, 5_000))).toEqual(held); // after a long rest, too
    // Half of what may be remembered is still for those that are not in use.
    const fresh = machines.of("fresh", 5_000);
    for (let i = 0; i < 4; i++) machines.of(`another ${i}`, 5_000);
    expect(machines.of("fresh", 5_000)).toBe(fresh);
    used.clear();
    for (let i = 0; i < 20; i++) machines.of(`other ${i}`, 5_000);
    expect([machines.peek("a"), machines.size <= 10]).toEqual([undefined, true]);
  });

  it("refuses wrong options by name", () => {
    for (const maxKeys of [1, 2.5, Number.NaN, Infinity])
      expect(() => keyed({ maxKeys })).toThrow(OptionError);
    expect(() => keyed({ idleMs: 0 })).toThrow("breaker.keys.idleMs");
  });
});
