import fc from "fast-check";
import { expect, it } from "vitest";
import { Timer } from "../core/runtime.ts";
import { TimerQueue } from "./timer-queue.ts";

class Plain extends Timer {
  override fire(): void {}
}

it("fires in order of due time and arming, however far ahead timers are, and whatever is taken out (property)", () => {
  const aheadMs = fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 400 }), fc.nat({ max: 40_000 }));
  const step = fc.oneof(
    fc.record({ aheadMs, fraction: fc.constantFrom(0, 0.5) }),
    fc.record({ remove: fc.nat() }),
    fc.constant({ fire: true }),
    fc.record({ passMs: aheadMs }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const queue = new TimerQueue();
      let model: Plain[] = [];
      let sequence = 0;
      let now = 0;
      for (const does of steps) {
        if ("aheadMs" in does) {
          const timer = new Plain();
          timer.dueAt = now + does.aheadMs + does.fraction;
          timer.sequence = ++sequence;
          queue.push(timer, now);
          model.push(timer);
          model.sort((a, b) => a.dueAt - b.dueAt || a.sequence - b.sequence);
        } else if ("passMs" in does) {
          now = Math.min(now + does.passMs, model[0]?.dueAt ?? Infinity);
        } else {
          const gone = "remove" in does ? model[does.remove % Math.max(1, model.length)] : queue.first;
          if (gone !== undefined) queue.remove(gone);
          if (gone !== undefined) expect([gone.position, gone.earlier, gone.later]).toEqual([-1, null, null]);
          model = model.filter((timer) => timer !== gone);
          if ("fire" in does && gone !== undefined) now = gone.dueAt;
        }
        expect(queue.size).toBe(model.length);
        expect(queue.first).toBe(model[0]);
      }
    }),
  );
});
