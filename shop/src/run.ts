/** One run on real HTTP: three processes, one setting, one hiccup; and what was seen, in the simulator's own terms. */
import { type MeanSecond, meanOf, newSecond, type Second } from "plimsoll/sim";
import type { Plan } from "./plan.ts";
import { Child, type Report } from "./process.ts";
import type { Counts } from "./seconds.ts";

/** What a run gave. Means are per second; latencies are those of successes, from the scheduled arrival. */
export interface RealRun {
  readonly setting: string;
  /** What a piece of stock's work really took on average, outside the hiccup. */
  readonly meanWorkMs: number;
  /** How far the load generator was behind its own timetable. */
  readonly lagMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly seconds: readonly Second[];
  readonly before: Phase;
  readonly hiccup: Phase;
  readonly after: Phase;
  /** The second from which at least 95 % of what was offered was answered in full, one bad second allowed. */
  readonly recoveredAtS: number | null;
  /** The bad seconds after that: one at most. */
  readonly badSeconds: readonly number[];
}

/** Means over a part of the run. */
export interface Phase extends MeanSecond {
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** How long the children get to settle before zero, beside the load's own warm-up. */
const SETTLE_MS = 500;

/** Runs `plan`. `progress` hears, in words, how far it is. Leaves no process behind, however it ends. */
export async function run(
  plan: Plan,
  progress: (words: string) => void,
  signal: AbortSignal,
): Promise<RealRun> {
  const children = { stock: new Child("stock"), shop: new Child("shop-api"), app: new Child("app") };
  const stop = (): void => {
    for (const child of Object.values(children)) child.stop();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await runWith(children, plan, progress);
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

type Children = { readonly stock: Child; readonly shop: Child; readonly app: Child };

async function runWith(
  { stock, shop, app }: Children,
  plan: Plan,
  progress: (words: string) => void,
): Promise<RealRun> {
  progress("measuring stock's work");
  const { port: stockPort = 0, meanWorkMs = Number.NaN } = await stock.prepare({ plan, ports: {} });
  const { port: shopPort = 0 } = await shop.prepare({ plan, ports: { stock: stockPort } });
  await app.prepare({ plan, ports: { "shop-api": shopPort } });

  const { fromS, hiccupS, untilS } = plan.timetable;
  const zeroAtMs = performance.timeOrigin + performance.now() + SETTLE_MS + (1 - fromS) * 1000;
  for (const child of [stock, shop, app]) child.begin(zeroAtMs);
  for (let second = fromS; second < untilS; second++) {
    await new Promise((resolve) => setTimeout(resolve, zeroAtMs + second * 1000 - Date.now()));
    const phase = second < 0 ? "healthy" : second < hiccupS ? "hiccup" : "after the hiccup";
    progress(`second ${second} of ${untilS}, ${phase}`);
  }
  progress("waiting for the last answers");
  const report = await app.end();
  const reports = [report, await shop.end(), await stock.end()];
  return {
    setting: plan.setting,
    meanWorkMs,
    lagMs: report.lagMs ?? { p50: 0, p99: 0, max: 0 },
    ...summary(plan, reports),
  };
}

function summary(plan: Plan, reports: readonly Report[]) {
  const { fromS, hiccupS, untilS } = plan.timetable;
  const seconds = secondsOf(reports, fromS, untilS);
  const latencies = new Map(reports.flatMap((report) => report.latencies ?? []));
  const phase = (from: number, to: number): Phase => {
    const all = [...latencies]
      .flatMap(([at, values]) => (at >= from && at < to ? values : []))
      .sort((a, b) => a - b);
    const at = (share: number): number | null => {
      const value = all[Math.min(all.length - 1, Math.floor(share * all.length))];
      return value === undefined ? null : value * 1000;
    };
    return {
      ...meanOf(seconds.filter((second) => second.at >= from && second.at < to)),
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    };
  };
  return {
    seconds,
    before: phase(fromS, 0),
    hiccup: phase(0, hiccupS),
    after: phase(hiccupS, untilS),
    ...recovery(seconds),
  };
}

/** One bad second is allowed in a real run: the machine has other work too. */
export function recovery(seconds: readonly Second[]): { recoveredAtS: number | null; badSeconds: number[] } {
  const bad = (second: Second): boolean => second.goodput < 0.95 * second.offered;
  for (const second of seconds) {
    if (second.at < 0 || bad(second)) continue;
    const badSeconds = seconds.filter((later) => later.at > second.at && bad(later)).map(({ at }) => at);
    if (badSeconds.length <= 1) return { recoveredAtS: second.at, badSeconds };
  }
  return { recoveredAtS: null, badSeconds: [] };
}

/** Puts together what the processes counted. */
export function secondsOf(reports: readonly Report[], fromS: number, untilS: number): Second[] {
  const counted = new Map<number, Counts>();
  for (const [at, counts] of reports.flatMap((report) => report.seconds)) {
    counted.set(at, { ...counted.get(at), ...counts });
  }
  return Array.from({ length: untilS - fromS }, (_, index) => {
    const at = fromS + index;
    const { dbFinished = 0, ...counts } = counted.get(at) ?? {};
    const second = newSecond(at);
    for (const name of Object.keys(second)) {
      if (name in counts) (second as unknown as Counts)[name] = counts[name] ?? 0;
    }
    for (const by of ["breaker", "bulkhead", "budget"] as const)
      second.refused[by] = counts[`refused.${by}`] ?? 0;
    // A query was useful if its answer reached an app that still waited.
    second.dbForNobody = Math.max(0, dbFinished - second.dbUseful);
    return second;
  });
}
