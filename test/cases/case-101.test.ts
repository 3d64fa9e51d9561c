// Case 101: hedge, retry and timeout multiply.
import { describe, expect, it } from "vitest";
import { constant, hedge, type OperationOptions, retry, timeout } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { type Step, scripted, virtualTime } from "../../src/node/testing/index.ts";
import { worstCase } from "../../src/system/index.ts";
import { fault, Lab } from "../lib/lab.ts";

const options: OperationOptions = {
  idempotent: true,
  attemptTimeoutMs: 50,
  retry: { attempts: 3, backoff: constant(20) },
  hedge: { delayMs: 10, attempts: 2 },
};
const product = worstCase({ budget: "none" }, options).attempts;

/** Every end of a leaf that never succeeds. */
const leaves: readonly [string, Step<never>][] = [
  ["fails after its hedge was sent", { error: fault("transient"), afterMs: 15 }],
  ["hangs", { hangs: true }],
  ["hangs, and is deaf", { hangs: true, ignoresSignal: true }],
];

it("case 101: the configuration check says 6", () => {
  expect(product).toBe(6);
});

describe.each(leaves)("case 101: a leaf that %s", (_name, step) => {
  it("is called no more often than the configuration check says", async () => {
    const time = virtualTime();
    const view = dependency({ name: "stock", budget: "none" }, time.runtime).operation("view", options);
    const work = scripted([step]);
    await time.run(() => view.outcome(work));
    await time.advance(10_000);
    expect(work.attempts.length).toBe(product);
    expect(time.runtime.pending).toBe(0);
  });

  it.each([5, 12, 40, 55, 75, 95, 105])(
    "is not called after its caller has left, at %d ms",
    async (leftAt) => {
      const time = virtualTime();
      const timeouts: number[] = [];
      time.runtime.listen(
        (event) =>
          void (event.type === "attempt.answered" && event.ending === "timeout" && timeouts.push(event.at)),
      );
      const view = dependency({ name: "stock", budget: "none" }, time.runtime).operation("view", options);
      const work = scripted([step]);
      const controller = new AbortController();
      const call = view(work, { signal: controller.signal });
      call.catch(() => {});
      await time.advance(leftAt);
      controller.abort(new Error("the caller has left"));
      await expect(call).rejects.toThrow("the caller has left");
      const sent = work.attempts.length;
      await time.advance(10_000);
      expect(work.attempts.length).toBe(sent);
      expect(timeouts.every((at) => at <= leftAt)).toBe(true);
      expect(time.runtime.pending).toBe(0);
    },
  );
});

it("case 101: the loser of a race is told at once, and fires no timeout", async () => {
  const time = virtualTime();
  const events: string[] = [];
  time.runtime.listen((event) => void (event.type === "attempt.answered" && events.push(event.ending)));
  const view = dependency({ name: "stock", budget: "none" }, time.runtime).operation("view", options);
  const work = scripted([{ hangs: true }, { value: "won", afterMs: 5 }]);
  expect(await time.run(() => view(work))).toBe("won");
  expect([time.now(), work.attempts[0]?.endedAt]).toEqual([15, 15]);
  await time.advance(10_000);
  expect([events.toSorted(), work.attempts.length]).toEqual([["hedgeLoser", "ok"], 2]);
});

it.each([
  ["the retry around the hedge", [retry(options.retry), hedge({ delayMs: 10 })]],
  ["the hedge around the retry", [hedge({ delayMs: 10 }), retry(options.retry)]],
] as const)("case 101: either nesting, no more than the product: %s", (_name, guards) => {
  for (const script of ["throws", "hangs"] as const) {
    const lab = new Lab();
    const stack = lab.stack([...guards, timeout(50)]);
    const call = lab.start(stack, script === "hangs" ? lab.hangs : lab.throws(fault("transient"), 15));
    lab.runtime.runToIdle();
    expect(call.sent.length).toBeLessThanOrEqual(product);
    expect(call.sent.length).toBeGreaterThan(3);
    expect(call.answers).toMatchObject([{ kind: "failed" }]);
  }
});
