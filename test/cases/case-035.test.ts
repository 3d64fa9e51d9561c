// Case 035: retries that wait in their backoff are not counted by the budget.
import { expect, it } from "vitest";
import { type BudgetSpec, concurrencyShare, constant } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { scripted, virtualTime } from "../../src/node/testing/index.ts";
import { fault } from "../lib/lab.ts";

it.each<[string, BudgetSpec, number]>([
  ["the library's own", { burst: 20, ratio: 0 }, 20],
  // A share of what is in flight, of which the first to fail are no part any more.
  ["by Envoy's rule", concurrencyShare({ share: 0.2, min: 0 }), 19],
])(
  "case 035: of 100 calls that fail together 20 at most wait for a retry, and the rest fail at once: %s",
  async (_name, budget, allowed) => {
    const time = virtualTime();
    const view = dependency({ name: "stock", budget }, time.runtime).operation("view", {
      idempotent: true,
      retry: { attempts: 2, backoff: constant(10_000) },
    });
    let scheduled = 0;
    time.runtime.listen(({ type }) => void (type === "retry.scheduled" && scheduled++));
    const work = scripted([{ error: fault("transient"), afterMs: 50 }]);
    let answered = 0;
    const calls = Array.from({ length: 100 }, () => view.outcome(work).finally(() => void answered++));
    await time.advance(50);
    expect([scheduled, answered]).toEqual([allowed, 100 - allowed]);
    await time.run(() => Promise.all(calls));
    expect(work.attempts.length).toBe(100 + allowed);
  },
);
