/** What the processes of a run counted, put together in the simulator's own terms. */
import { type MeanSecond, meanOf, newSecond, type Second } from "plimsoll/sim";
import type { Named } from "./fleet.ts";
import type { Plan } from "./plan.ts";
import type { Lag, Report, Vital } from "./process.ts";
import type { Counts } from "./seconds.ts";
import { type Trace, tracesOf } from "./trace.ts";

/** What a run gave. Means are per second; latencies are those of successes, from the scheduled arrival. */
export interface RealRun {
  readonly setting: string;
  readonly plan: Plan;
  /** What a piece of stock's work takes, ms: as measured in health, without the storage, and so in the hiccup. */
  readonly work: { readonly meanMs: number; readonly restMs: number; readonly hiccupMs: number };
  /** How far the load generator was behind its own timetable. */
  readonly lagMs: Lag;
  readonly seconds: readonly Second[];
  readonly before: Phase;
  readonly hiccup: Phase;
  readonly after: Phase;
  /** The second from which at least 95 % of what was offered was answered in full, one bad second allowed. */
  readonly recoveredAtS: number | null;
  /** The bad seconds after that: one at most. */
  readonly badSeconds: readonly number[];
  readonly traces: readonly Trace[];
  /** Each process, second by second. */
  readonly vitals: Readonly<Record<string, readonly [number, Vital][]>>;
}

/** Means over a part of the run. */
export interface Phase extends MeanSecond {
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** What a piece of work took that was finished: from the connection to its end, ms. */
  readonly workMs: number | null;
  /** Each process: CPUs used, and its event loop's lateness (P99 as the mean over the seconds; and the most). */
  readonly processes: Readonly<Record<string, Vital>>;
  /** The share of the machine's CPUs that was busy. */
  readonly machine: number;
}

/** What was measured beside the processes' own counts. */
interface Beside {
  readonly work: RealRun["work"];
  readonly machine: readonly [number, number][];
}

/** Puts a run together. */
export function summary(plan: Plan, named: readonly Named[], { work, machine }: Beside): RealRun {
  const { fromS, hiccupS, untilS } = plan.timetable;
  const reports = named.map(({ report }) => report);
  const all = counted(reports);
  const seconds = secondsOf(reports, fromS, untilS);
  const phase = (from: number, to: number): Phase => ({
    ...meanOf(seconds.filter((second) => second.at >= from && second.at < to)),
    ...latenciesOf(reports, from, to),
    workMs: workOf(all, from, to),
    processes: Object.fromEntries(
      named
        .filter(({ report }) => report.vitals.length > 0)
        .map(({ name, report }) => [name, vitalOf(report, from, to)]),
    ),
    machine: mean(machine.filter(([at]) => at >= from && at < to).map(([, busy]) => busy)),
  });
  return {
    setting: plan.setting,
    plan,
    work,
    lagMs: reports.find(({ lagMs }) => lagMs !== undefined)?.lagMs ?? { p50: 0, p99: 0, max: 0 },
    seconds,
    before: phase(fromS, 0),
    hiccup: phase(0, hiccupS),
    after: phase(hiccupS, untilS),
    ...recovery(seconds),
    traces: tracesOf(reports.flatMap(({ steps }) => steps)),
    vitals: Object.fromEntries(named.map(({ name, report }) => [name, report.vitals])),
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

/** What was counted in each second, added up over the processes. */
function counted(reports: readonly Pick<Report, "seconds">[]): Map<number, Counts> {
  const all = new Map<number, Counts>();
  for (const [at, counts] of reports.flatMap((report) => report.seconds)) {
    const sums = all.get(at) ?? {};
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value;
    all.set(at, sums);
  }
  return all;
}

/** Puts together what the processes counted. */
export function secondsOf(
  reports: readonly Pick<Report, "seconds">[],
  fromS: number,
  untilS: number,
): Second[] {
  const all = counted(reports);
  return Array.from({ length: untilS - fromS }, (_, index) => {
    const at = fromS + index;
    const { dbFinished = 0, ...counts } = all.get(at) ?? {};
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

function latenciesOf(reports: readonly Report[], from: number, to: number): Pick<Phase, "p50Ms" | "p99Ms"> {
  const all = reports
    .flatMap((report) => report.latencies ?? [])
    .flatMap(([at, values]) => (at >= from && at < to ? values : []))
    .sort((a, b) => a - b);
  const at = (share: number): number | null => {
    const value = all[Math.min(all.length - 1, Math.floor(share * all.length))];
    return value === undefined ? null : value * 1000;
  };
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

function workOf(all: ReadonlyMap<number, Counts>, from: number, to: number): number | null {
  let pieces = 0;
  let ms = 0;
  for (const [at, { dbFinished = 0, workMs = 0 }] of all) {
    if (at < from || at >= to) continue;
    pieces += dbFinished;
    ms += workMs;
  }
  return pieces === 0 ? null : ms / pieces;
}

function vitalOf({ vitals }: Report, from: number, to: number): Vital {
  const within = vitals.filter(([at]) => at >= from && at < to).map(([, vital]) => vital);
  return {
    cpu: mean(within.map(({ cpu }) => cpu)),
    lagMs: mean(within.map(({ lagMs }) => lagMs)),
    maxLagMs: Math.max(0, ...within.map(({ maxLagMs }) => maxLagMs)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
