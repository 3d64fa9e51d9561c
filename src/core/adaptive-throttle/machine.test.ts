import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OptionError } from "../errors.ts";
import { SeededRandom } from "../random.ts";
import { AdaptiveThrottle } from "./machine.ts";

function throttle(options = {}): AdaptiveThrottle {
  return new AdaptiveThrottle(options, 0.5);
}

describe("an adaptive throttle", () => {
  it("refuses nothing while at least 1 of K is accepted", () => {
    const half = throttle();
    for (let i = 0; i < 100; i++) half.record(i % 2 === 0, 1_000);
    expect(half.refusedShare(1_000)).toBe(0);
    expect(half.mayRefuse).toBe(false);
  });

  it("refuses (requests − K × accepts) / (requests + 1) of what is wanted", () => {
    const tenth = throttle();
    for (let i = 0; i < 100; i++) tenth.record(i % 10 === 0, 1_000);
    expect(tenth.refusedShare(1_000)).toBeCloseTo((100 - 20) / 101, 12);
    expect(tenth.refuses(1_000)).toBe(true);
    tenth.decided(0.9);
    expect(tenth.refuses(1_000)).toBe(false);
  });

  it("never refuses everything", () => {
    const none = throttle({ maxRefused: 0.9 });
    for (let i = 0; i < 100_000; i++) none.record(false, 1_000);
    expect(none.refusedShare(1_000)).toBe(0.9);
  });

  it("forgets after its window, and lets calls through again", () => {
    const window = throttle({ windowMs: 1_000 });
    for (let i = 0; i < 100; i++) window.record(false, 5_000);
    expect(window.refusedShare(5_900)).toBeGreaterThan(0.9);
    expect(window.refusedShare(6_100)).toBe(0);
    expect(window.requests(6_100)).toBe(0);
  });

  it("sends about K times what is accepted, whatever is wanted", () => {
    const random = new SeededRandom(7).fork("throttle");
    for (const [wanted, accepted] of [
      [100, 10],
      [1_000, 10],
      [1_000, 100],
    ] as const) {
      const machine = throttle({ windowMs: 10_000, maxRefused: 0.99 });
      let sent = 0;
      for (let second = 0; second < 60; second++) {
        let left = accepted;
        for (let i = 0; i < wanted; i++) {
          const now = second * 1_000 + (i * 1_000) / wanted;
          const refused = machine.refuses(now);
          machine.decided(random.next());
          if (!refused && second >= 20) sent++;
          machine.record(!refused && left-- > 0, now);
        }
      }
      const perSecond = sent / 40;
      expect(perSecond, `${wanted} wanted, ${accepted} accepted`).toBeGreaterThan(1.5 * accepted);
      expect(perSecond, `${wanted} wanted, ${accepted} accepted`).toBeLessThan(2.5 * accepted);
    }
  });

  it("stays a share, whatever happens", () => {
    const events = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 400 })), { maxLength: 300 });
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 5 }), (steps, k) => {
        const machine = throttle({ k, windowMs: 1_000 });
        let now = 0;
        for (const [accepted, gap] of steps) {
          now += gap;
          machine.record(accepted, now);
          const [requests, accepts] = [machine.requests(now), machine.accepts(now)];
          expect(accepts).toBeGreaterThanOrEqual(0);
          expect(accepts).toBeLessThanOrEqual(requests);
          expect(machine.refusedShare(now) > 0).toBe(requests > k * accepts);
          expect(machine.refusedShare(now)).toBeLessThanOrEqual(0.95);
        }
      }),
    );
  });

  it("refuses wrong options by name", () => {
    for (const options of [
      { k: 0.5 },
      { k: Number.NaN },
      { windowMs: 1 },
      { maxRefused: 1 },
      { rejects: "all" },
      { K: 2 },
    ]) {
      const [field = ""] = Object.keys(options);
      expect(() => throttle(options), field).toThrow(OptionError);
      expect(() => throttle(options), field).toThrow(`adaptiveThrottle.${field}`);
    }
  });
});
