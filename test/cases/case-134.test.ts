// Case 134: the gauge of a limit shows its starting value for ever.
import { expect, it } from "vitest";
import { aimd } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { scripted, virtualTime } from "../../src/node/testing/index.ts";
import { fault } from "../lib/lab.ts";

it.each(["shared by the dependency", "of the operation"])(
  "case 134: a learnt limit shows what it is: %s",
  async (whose) => {
    const time = virtualTime();
    const bulkhead = { limit: aimd({ initial: 20, max: 60 }) };
    const shared = whose === "shared by the dependency";
    const stock = dependency({ name: "stock", ...(shared ? { bulkhead } : {}) }, time.runtime);
    const view = stock.operation("view", shared ? {} : { bulkhead });
    const busy = async (): Promise<number> => {
      const work = scripted([{ value: 1, afterMs: 10 }]);
      await time.run(() => Promise.all(Array.from({ length: 60 }, () => view.outcome(work))));
      return work.attempts.length;
    };
    let admitted = await busy();
    expect(admitted).toBe(20);
    for (let round = 0; round < 100 && admitted < 41; round++) {
      const before = admitted;
      admitted = await busy();
      expect(admitted).toBeGreaterThanOrEqual(before);
      if (shared) expect(stock.bulkhead?.gate.limit).toBeGreaterThanOrEqual(admitted);
    }
    expect(admitted).toBeGreaterThanOrEqual(41);
    if (!shared) return;
    const shown = stock.bulkhead?.gate.limit ?? 0;
    await time.run(() => view.outcome(scripted([{ error: fault("throttling"), afterMs: 1 }])));
    expect(stock.bulkhead?.gate.limit).toBeLessThan(shown); // in the very step
  },
);
