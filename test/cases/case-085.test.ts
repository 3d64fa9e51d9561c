// Cases 085 and 086: the wall clock steps back, and the caller is locked out; it jumps ahead, and gives a free burst.
import { afterEach, expect, it, vi } from "vitest";
import { fixed } from "../../src/core/index.ts";
import { dependency, timeLimit } from "../../src/facade/index.ts";
import { NodeRuntime } from "../../src/node/runtime.ts";
import { sleep, until } from "../lib/http.ts";

afterEach(() => void vi.useRealTimers());

const HOUR = 3_600_000;

/** The wall clock is set; the monotonic one, and all timers, go on. */
function setWallClock(byMs: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
}

const boom = async (): Promise<never> => {
  throw new Error("down");
};
const fine = async (): Promise<string> => "fine";

it("case 085: an hour back: limit, breaker, deadline and window go on as they were", async () => {
  const runtime = new NodeRuntime();
  const stock = dependency({ name: "stock" }, runtime);
  const limited = stock.operation("limited", { rateLimit: { limit: 1, windowMs: 40 } });
  const broken = stock.operation("broken", {
    breaker: { window: { calls: 1 }, openMs: 40, reopen: fixed(), probes: 1 },
  });
  const windowed = stock.operation("windowed", { breaker: { window: { ms: 40 }, minimumCalls: 2 } });
  await limited(fine);
  await broken.outcome(boom);
  await windowed.outcome(boom);
  const slow = stock.operation("slow", { totalTimeoutMs: 40 }).outcome(() => new Promise<never>(() => {}));
  setWallClock(-HOUR);
  expect(await slow).toMatchObject({ kind: "failed", ended: "clipped" });
  await sleep(60);
  expect(await limited(fine)).toBe("fine");
  expect(await broken(fine)).toBe("fine");
  expect(broken.breaker?.state.name).toBe("closed");
  await windowed.outcome(boom); // the first failure has left the window
  expect(windowed.breaker?.state.name).toBe("closed");
});

it("case 086: an hour ahead: no token is gained, no breaker closes, and nobody's time is over", async () => {
  const runtime = new NodeRuntime();
  const stock = dependency({ name: "stock" }, runtime);
  const limited = stock.operation("limited", { rateLimit: { limit: 1, windowMs: HOUR / 2 } });
  const broken = stock.operation("broken", { breaker: { window: { calls: 1 }, openMs: HOUR / 2 } });
  await limited(fine);
  await broken.outcome(boom);
  const request = timeLimit({ ms: HOUR / 2 }, runtime);
  let end = (): void => {};
  const gate = new Promise<void>((resolve) => {
    end = resolve;
  });
  let begun = 0;
  const waits = stock.operation("waits", { totalTimeoutMs: HOUR / 2 });
  const calls = Array.from({ length: 10 }, () =>
    waits(async ({ signal }) => {
      begun++;
      await gate;
      return signal.aborted ? "expired" : "in time";
    }),
  );
  await until(() => begun === 10);
  setWallClock(HOUR);
  await sleep(20);
  expect(await limited.outcome(fine)).toMatchObject({ kind: "rejected", by: "rateLimit" });
  expect(await broken.outcome(fine)).toMatchObject({ kind: "rejected", by: "breaker" });
  request.check();
  end();
  expect(await Promise.all(calls)).toEqual(new Array(10).fill("in time"));
  expect(runtime.pending).toBe(0);
});
