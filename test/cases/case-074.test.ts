// Case 074: a full queue, and nothing running.
import { expect, it } from "vitest";
import { Bulkhead, bulkhead, SeededRandom, timeout } from "../../src/core/index.ts";
import { fault, Lab, type Script, type Started } from "../lib/lab.ts";

/** 10,000 seeded steps: calls of every end, callers who leave at every stage. */
function mixed(seed: number): { busiest: number; longest: number } {
  const lab = new Lab(seed);
  const random = new SeededRandom(seed);
  const cap = new Bulkhead({ limit: 2, queue: { maxWaiting: 32, maxWaitMs: 80 } }, lab.runtime);
  const stack = lab.stack([bulkhead(cap), timeout(30)]);
  const calls: Started[] = [];
  let [busiest, longest] = [0, 0];
  const look = (): void => {
    const { held, limit } = cap.gate;
    busiest = Math.max(busiest, held);
    longest = Math.max(longest, cap.waiting);
    if (cap.waiting > 0 && held !== limit) expect.fail(`${cap.waiting} wait, and ${held} of ${limit} run`);
    if (held < 0 || held > limit) expect.fail(`${held} of ${limit} held`);
  };
  const throws: Script = () => {
    throw new Error("at once");
  };
  const obeys: Script = (attempt) => attempt.onAbort((reason) => attempt.fail(reason));
  for (let step = 0; step < 10_000; step++) {
    const takesMs = Math.floor(random.next() * 60);
    const ends = [
      lab.gives(1, takesMs),
      lab.throws(fault("transient"), takesMs),
      throws,
      obeys,
      lab.gives(1),
    ];
    const script = ends[Math.floor(random.next() * ends.length)] as Script;
    calls.push(lab.start(stack, script, { withinMs: random.next() < 0.3 ? 20 : Infinity }));
    look();
    if (random.next() < 0.4) {
      calls[Math.floor(random.next() * calls.length)]?.process.cancel("gone");
      look();
    }
    if (random.next() < 0.5) lab.runtime.advance(Math.floor(random.next() * 25));
    look();
  }
  lab.runtime.runToIdle();
  expect([cap.gate.held, cap.waiting]).toEqual([0, 0]);
  expect(calls.every(({ answers }) => answers.length === 1)).toBe(true);
  return { busiest, longest };
}

it.each([1, 2, 3])("case 074: whoever waits, waits for two that run, at every step; seed %d", (seed) => {
  const { busiest, longest } = mixed(seed);
  expect(busiest).toBe(2);
  expect(longest).toBeGreaterThan(5);
});
