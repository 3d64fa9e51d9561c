/** A dependency of which a part fails, then all: what a breaker gives away or lets through, and one that opens in part. */
import type { OperationOptions } from "../../../core/policy-options.ts";
import { VirtualRuntime } from "../../../testing/virtual-runtime.ts";
import { endIn, operationOf, type Scenario, start } from "./scenario.ts";

const PHASE_MS = 60_000;
const EVERY_MS = 10;

/** The share that fails in each minute: none, a third (one shard of three), all, none. */
const FAILING = [0, 1 / 3, 1, 0];

/** For each minute, the share of the good answers that were given, and how many calls failed at the dependency. */
function minutes(seed: number, guard: OperationOptions): { good: number[]; failed: number[] } {
  const runtime = new VirtualRuntime({ seed });
  const random = runtime.random.fork("failures");
  const operation = operationOf(runtime, guard, { budget: "none" });
  const [possible, good, failed] = [0, 1, 2].map(() => FAILING.map(() => 0)) as [
    number[],
    number[],
    number[],
  ];
  const count = (of: number[], minute: number): void => {
    of[minute] = (of[minute] as number) + 1;
  };
  const call = (minute: number): void => {
    const well = random.next() >= (FAILING[minute] as number);
    if (well) count(possible, minute);
    start(
      operation,
      (attempt) => {
        if (!well) count(failed, minute);
        endIn(attempt, 5, well);
      },
      (ok) => {
        if (ok) count(good, minute);
      },
    );
  };
  for (let at = 0; at < FAILING.length * PHASE_MS; at += EVERY_MS)
    runtime.after(at, () => call(Math.floor(at / PHASE_MS)));
  runtime.runToIdle(10_000_000);
  return { good: good.map((each, minute) => each / Math.max(1, possible[minute] as number)), failed };
}

/** A breaker that opens in part. */
export const PARTIAL: Scenario = {
  name: "partial-breaker",
  about:
    "100 calls a second; a third fails for a minute, then all for a minute: the share of good answers given in the first, and calls that failed in the second, with a breaker that opens at half, one at a quarter, and a partial one (after Semian's adaptive breaker).",
  run(seed) {
    const half = minutes(seed, { breaker: { window: { ms: 10_000 } } });
    const quarter = minutes(seed, { breaker: { window: { ms: 10_000 }, failureRate: 0.25 } });
    const part = minutes(seed, { partialBreaker: {} });
    const [third, all, after] = [1, 2, 3];
    return {
      goodHalf: half.good[third] as number,
      goodQuarter: quarter.good[third] as number,
      goodPartial: part.good[third] as number,
      failedThirdHalf: half.failed[third] as number,
      failedThirdPartial: part.failed[third] as number,
      failedHalf: half.failed[all] as number,
      failedQuarter: quarter.failed[all] as number,
      failedPartial: part.failed[all] as number,
      goodAfterPartial: part.good[after] as number,
    };
  },
};
