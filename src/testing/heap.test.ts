import fc from "fast-check";
import { expect, it } from "vitest";
import { Timer } from "../core/runtime.ts";
import { TimerHeap } from "./heap.ts";

class Plain extends Timer {
  override fire(): void {}
}

it("holds what was pushed in order of due time and arming, and each knows its place (property)", () => {
  const step = fc.oneof(
    fc.record({ push: fc.nat({ max: 20 }) }),
    fc.record({ remove: fc.nat() }),
    fc.constant({ first: true }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const heap = new TimerHeap();
      let model: Plain[] = [];
      let sequence = 0;
      for (const does of steps) {
        if ("push" in does) {
          const timer = new Plain();
          timer.dueAt = does.push;
          timer.sequence = ++sequence;
          heap.push(timer);
          model.push(timer);
          model.sort((a, b) => a.dueAt - b.dueAt || a.sequence - b.sequence);
        } else {
          const gone = "remove" in does ? model[does.remove % Math.max(1, model.length)] : heap.first;
          if (gone !== undefined) heap.remove(gone as Plain);
          if (gone !== undefined) expect(gone.position).toBe(-1);
          model = model.filter((timer) => timer !== gone);
        }
        expect(heap.size).toBe(model.length);
        expect(heap.first).toBe(model[0]);
        const places = model.map((timer) => timer.position).sort((a, b) => a - b);
        expect(places).toEqual(model.map((_, index) => index));
      }
    }),
  );
});
