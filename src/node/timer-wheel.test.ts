import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Timer } from "../core/runtime.ts";
import { TimerWheel } from "./timer-wheel.ts";

class Named extends Timer {
  readonly name: string;

  constructor(name: string, dueAt: number) {
    super();
    this.name = name;
    this.dueAt = dueAt;
  }

  override fire(): void {}
}

function due(wheel: TimerWheel, now: number): string[] {
  const names: string[] = [];
  for (let timer = wheel.shiftDue(now); timer !== null; timer = wheel.shiftDue(now))
    names.push((timer as Named).name);
  return names;
}

function wheelOf(...timers: [name: string, dueAt: number][]): { wheel: TimerWheel; timers: Named[] } {
  const wheel = new TimerWheel(0);
  const made = timers.map(([name, at]) => new Named(name, at));
  for (const timer of made) wheel.add(timer);
  return { wheel, timers: made };
}

describe("TimerWheel", () => {
  it("gives out what is due, by due time and then by arming", () => {
    const { wheel } = wheelOf(["c", 7], ["a", 3], ["d", 7], ["b", 5], ["e", 9]);
    expect(due(wheel, 2)).toEqual([]);
    expect(due(wheel, 7)).toEqual(["a", "b", "c", "d"]);
    expect(due(wheel, 8)).toEqual([]);
    expect([wheel.size, due(wheel, 9), wheel.size]).toEqual([1, ["e"], 0]);
  });

  it("keeps those of a later turn in their slot", () => {
    const { wheel } = wheelOf(["far", 2053], ["near", 5], ["next", 1029]);
    expect(due(wheel, 5)).toEqual(["near"]);
    expect(due(wheel, 1028)).toEqual([]);
    expect(due(wheel, 1029)).toEqual(["next"]);
    expect(due(wheel, 2052)).toEqual([]);
    expect(due(wheel, 2053)).toEqual(["far"]);
  });

  it("takes out whatever is in the middle of a slot", () => {
    const { wheel, timers } = wheelOf(["a", 5], ["b", 5], ["c", 5]);
    wheel.remove(timers[1] as Named);
    expect((timers[1] as Named).position).toBe(-1);
    expect(due(wheel, 5)).toEqual(["a", "c"]);
  });

  it("fires at the next sweep what was due before it was added", () => {
    const { wheel } = wheelOf(["keep", 2000]);
    expect(due(wheel, 100)).toEqual([]);
    wheel.add(new Named("late", 40));
    expect(wheel.nextAt()).toBe(101);
    expect(due(wheel, 101)).toEqual(["late"]);
  });

  it("says when something may be due, at the latest one turn from now", () => {
    const { wheel } = wheelOf(["far", 5000]);
    expect(wheel.nextAt()).toBe(1024);
    wheel.add(new Named("near", 30));
    expect(wheel.nextAt()).toBe(30);
    expect(new TimerWheel(0).nextAt()).toBe(Infinity);
  });

  it("loses none, doubles none, and is never early (property)", () => {
    const step = fc.oneof(
      fc.record({ add: fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 5000 })) }),
      fc.record({ remove: fc.nat() }),
      fc.record({ sweep: fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 4000 })) }),
    );
    fc.assert(
      fc.property(fc.nat({ max: 1e6 }), fc.array(step, { maxLength: 150 }), (startAt, steps) => {
        const wheel = new TimerWheel(startAt);
        let now = startAt;
        let armed: Named[] = [];
        const sweep = (): void => {
          let before: Named | null = null;
          for (let timer = wheel.shiftDue(now); timer !== null; timer = wheel.shiftDue(now)) {
            const fired = timer as Named;
            if (fired.dueAt > now) throw new Error(`${fired.dueAt} fired at ${now}`);
            if (!armed.includes(fired)) throw new Error("fired twice, or after it was taken out");
            if (before !== null && before.dueAt === fired.dueAt && Number(before.name) > Number(fired.name))
              throw new Error("out of order");
            armed = armed.filter((other) => other !== fired);
            before = fired;
          }
          if (armed.some((timer) => timer.dueAt <= now)) throw new Error("one that was due did not fire");
        };
        steps.forEach((does, index) => {
          if ("add" in does) {
            const timer = new Named(`${index}`, now + does.add);
            wheel.add(timer);
            armed.push(timer);
          } else if ("remove" in does) {
            const [gone] = armed.splice(does.remove % Math.max(1, armed.length), 1);
            if (gone !== undefined) wheel.remove(gone);
          } else {
            now += does.sweep + 1; // what is armed at its due time fires at the next millisecond
            sweep();
          }
          expect(wheel.size).toBe(armed.length);
          const soonest = Math.min(...armed.map((timer) => timer.dueAt));
          expect(wheel.nextAt()).toBeLessThanOrEqual(Math.max(soonest, now + 1));
        });
        now += 5001;
        sweep();
        expect(wheel.size).toBe(0);
      }),
    );
  });
});
