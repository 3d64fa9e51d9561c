// Case 088: a 30-day window overflows the timer, so the counter vanishes.
import { afterAll, beforeAll, expect, it } from "vitest";
import { BreakerPolicy, MAX_TIMER_MS, OptionError, stale } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { NodeRuntime } from "../../src/node/runtime.ts";
import { virtualTime } from "../../src/node/testing/index.ts";
import { sleep } from "../lib/http.ts";

const warnings: string[] = [];
const hear = ({ name }: Error): void => void warnings.push(name);
beforeAll(() => void process.on("warning", hear));
afterAll(() => void process.off("warning", hear));

const DAY = 86_400_000;

it("case 088: of six calls in a second five pass, on Node's own timers, and nothing overflows", async () => {
  const runtime = new NodeRuntime();
  const view = dependency({ name: "stock" }, runtime).operation("view", {
    rateLimit: { limit: 5, windowMs: 30 * DAY },
  });
  const kinds: string[] = [];
  for (let call = 0; call < 6; call++) {
    kinds.push((await view.outcome(() => call)).kind);
    await sleep(5);
  }
  expect(kinds).toEqual(["ok", "ok", "ok", "ok", "ok", "rejected"]);
  expect(warnings).toEqual([]);
});

it("case 088: a fifth of the window later one more passes, and no sooner", async () => {
  const time = virtualTime();
  const view = dependency({ name: "stock" }, time.runtime).operation("view", {
    rateLimit: { limit: 5, windowMs: 30 * DAY },
  });
  for (let call = 0; call < 5; call++) await view(() => call);
  const refused = await view.outcome(() => 6);
  expect(refused).toMatchObject({ kind: "rejected", retryAfterMs: 6 * DAY });
  time.runtime.advanceTo(6 * DAY - 1);
  expect((await view.outcome(() => 6)).kind).toBe("rejected");
  time.runtime.advanceTo(6 * DAY);
  expect((await view.outcome(() => 6)).kind).toBe("ok");
});

it("case 088: what needs a timer takes no more than a timer can keep, and says so", () => {
  const long = 30 * DAY;
  expect(long).toBeGreaterThan(MAX_TIMER_MS);
  const { operation } = dependency({ name: "stock" }, new NodeRuntime());
  for (const making of [
    () => new BreakerPolicy({ openMs: long }),
    () => operation("a", { attemptTimeoutMs: long }),
    () => operation("b", { totalTimeoutMs: long }),
    () => operation("c", { fallback: stale({ maxAgeMs: long }) }),
  ])
    expect(making).toThrow(OptionError);
});
