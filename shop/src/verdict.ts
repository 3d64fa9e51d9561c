/** When a real run says nothing of the shop, because the machine was too busy to be one. */
import { PHASES } from "./compare.ts";
import type { RealRun } from "./summary.ts";

/** A generator further behind than this at P99 (an eighth of an app's patience) has not offered what it should have. */
const MAX_LAG_MS = 250;
/** A process that needs more of its one CPU than this in health is the bottleneck that storage should be. */
const MAX_CPU = 0.85;

/** With more of a piece of work than this not the storage's, the database itself waits for a CPU. */
const MAX_REST = 0.4;
/** With the whole machine busier than this, everybody waits for a CPU: in health because others are at work on it. */
const MAX_MACHINE = { before: 0.8, hiccup: 0.9, after: 0.9 } as const;

/** Why this run is no result; nothing if it is one. */
export function noResult(run: RealRun): string[] {
  const { setting, lagMs, before, work } = run;
  const reasons: string[] = [];
  if (lagMs.p99 > MAX_LAG_MS) {
    reasons.push(`the load generator itself fell behind by ${lagMs.p99.toFixed(0)} ms (P99)`);
  }
  for (const [name, { cpu }] of Object.entries(before.processes)) {
    if (cpu > MAX_CPU) reasons.push(`${name} used ${(100 * cpu).toFixed(0)} % of a CPU in health`);
  }
  if (work.restMs > MAX_REST * work.meanMs) {
    const share = (100 * work.restMs) / work.meanMs;
    reasons.push(`${share.toFixed(0)} % of stock's work was not the storage's`);
  }
  for (const phase of PHASES) {
    const { machine } = run[phase];
    if (machine > MAX_MACHINE[phase])
      reasons.push(`the machine was ${(100 * machine).toFixed(0)} % busy (${phase})`);
  }
  if (before.goodput < 0.95 * before.offered) {
    const share = (100 * before.goodput) / Math.max(1, before.offered);
    reasons.push(`only ${share.toFixed(0)} % of what was offered was answered in full before the trouble`);
  }
  return reasons.map(
    (reason) => `${setting}: this is no result: ${reason}. This machine is too busy, or too small.`,
  );
}
