import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AdmissionQueue, type Entry } from "./machine.ts";

class Waiter implements Entry<Waiter> {
  ahead: Waiter | null = null;
  behind: Waiter | null = null;
  waitingSince = 0;
  readonly bytes: number;

  constructor(bytes = 0) {
    this.bytes = bytes;
  }
}

const bytesOf = (waiter: Waiter): number => waiter.bytes;

describe("AdmissionQueue", () => {
  it("lets nobody wait unless it is told to, and for a second at most", () => {
    const queue = new AdmissionQueue<Waiter>();
    expect(queue).toMatchObject({ maxWaiting: 0, maxWaitMs: 1000, maxBytes: Infinity });
    expect(queue.join(new Waiter(), 0)).toBe(false);
    expect(queue.size).toBe(0);
  });

  it("gives out in the order of arrival", () => {
    const queue = new AdmissionQueue<Waiter>({ maxWaiting: 3 });
    const [a, b, c] = [new Waiter(), new Waiter(), new Waiter()];
    for (const waiter of [a, b, c]) expect(queue.join(waiter, 0)).toBe(true);
    expect(queue.join(new Waiter(), 0)).toBe(false);
    queue.remove(b);
    expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([a, c, null]);
  });

  it("takes as many bytes as it may hold, and not one more", () => {
    const queue = new AdmissionQueue<Waiter>({ maxWaiting: 10, maxBytes: 100 }, "queue", bytesOf);
    const large = new Waiter(60);
    expect([queue.join(large, 0), queue.join(new Waiter(41), 0), queue.join(new Waiter(40), 0)]).toEqual([
      true,
      false,
      true,
    ]);
    queue.remove(large);
    expect(queue.bytes).toBe(40);
    expect(queue.join(new Waiter(60), 0)).toBe(true);
  });

  it("knows how long the first has waited", () => {
    const queue = new AdmissionQueue<Waiter>({ maxWaiting: 2 });
    expect(queue.oldestMs(50)).toBe(0);
    queue.join(new Waiter(), 10);
    queue.join(new Waiter(), 30);
    expect(queue.oldestMs(50)).toBe(40);
    queue.shift();
    expect(queue.oldestMs(50)).toBe(20);
  });

  it("behaves as a list does, within its bounds, with its links whole (property)", () => {
    const operation = fc.oneof(
      fc.record({ join: fc.nat({ max: 40 }) }),
      fc.record({ remove: fc.nat() }),
      fc.constant({ shift: true }),
    );
    const bounds = fc.record({ maxWaiting: fc.nat({ max: 6 }), maxBytes: fc.nat({ max: 100 }) });
    fc.assert(
      fc.property(bounds, fc.array(operation, { maxLength: 200 }), (options, operations) => {
        const queue = new AdmissionQueue<Waiter>(options, "queue", bytesOf);
        let model: Waiter[] = [];
        operations.forEach((does, now) => {
          if ("join" in does) {
            const waiter = new Waiter(does.join);
            const bytes = model.reduce((sum, other) => sum + other.bytes, waiter.bytes);
            const fits = model.length < options.maxWaiting && bytes <= options.maxBytes;
            expect(queue.join(waiter, now)).toBe(fits);
            if (fits) model.push(waiter);
            else expect(waiter).toMatchObject({ ahead: null, behind: null });
          } else if ("shift" in does) {
            expect(queue.shift()).toBe(model.shift() ?? null);
          } else if (model.length > 0) {
            const out = model[does.remove % model.length] as Waiter;
            queue.remove(out);
            expect(out).toMatchObject({ ahead: null, behind: null });
            model = model.filter((waiter) => waiter !== out);
          }
          expect(queue.size).toBe(model.length);
          expect(queue.bytes).toBe(model.reduce((sum, waiter) => sum + waiter.bytes, 0));
          expect(queue.oldestMs(now)).toBe(model[0] === undefined ? 0 : now - model[0].waitingSince);
          model.forEach((waiter, at) => {
            if (waiter.ahead !== (model[at - 1] ?? null) || waiter.behind !== (model[at + 1] ?? null))
              throw new Error("a link is wrong");
          });
        });
      }),
    );
  });
});
