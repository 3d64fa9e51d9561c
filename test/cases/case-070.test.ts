// Case 070: a permit is not released on cancel or timeout.
import { expect, it } from "vitest";
import { Bulkhead, bulkhead, timeout } from "../../src/core/index.ts";
import { fault, Lab, type Started } from "../lib/lab.ts";

const ends: readonly [
  name: string,
  end: (lab: Lab) => Parameters<Lab["start"]>[1],
  after: (call: Started) => void,
][] = [
  ["an abort in mid-run", (lab) => lab.gives("late", 80), (call) => call.process.cancel("gone")],
  ["a timeout in mid-run", (lab) => lab.gives("late", 80), () => {}],
  ["a rejection", (lab) => lab.throws(fault("transient"), 80), () => {}],
  [
    "work that gives up when it is told to",
    (lab) => (attempt) => attempt.onAbort(() => lab.throws("obeyed", 10)(attempt)),
    () => {},
  ],
  [
    "a synchronous throw",
    () => () => {
      throw new Error("at once");
    },
    () => {},
  ],
];

for (const limit of [1, 10]) {
  it.each(ends)(
    `case 070: limit ${limit}, %s: the place is free exactly once the work has ended`,
    (name, end, after) => {
      const lab = new Lab();
      const cap = new Bulkhead({ limit }, lab.runtime);
      const stack = lab.stack([bulkhead(cap), timeout(50)]);
      for (let round = 0; round < 3; round++) {
        const calls = Array.from({ length: limit }, () => lab.start(stack, end(lab)));
        const sync = name === "a synchronous throw";
        expect(cap.gate.held).toBe(sync ? 0 : limit);
        lab.runtime.advance(20);
        for (const call of calls) after(call);
        expect(cap.gate.held).toBe(sync ? 0 : limit);
        lab.runtime.advance(30);
        expect(calls.every((call) => call.answers.length === 1)).toBe(true);
        expect(cap.gate.held).toBe(sync ? 0 : limit); // answered, and still running
        lab.runtime.advance(30);
        expect([cap.gate.held, stack.leaf.abandoned, lab.runtime.pending]).toEqual([0, 0, 0]);
      }
    },
  );
}
