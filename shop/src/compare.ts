/**
 * The simulation beside a real run: the same system file at the same scale, with the time that stock's work was
 * measured to take. One replay is one draw of luck, so that it is the mean of a few.
 */
import { type MeanSecond, meanOf, type Replay, recoveredAt, replayBasketly, type Second } from "plimsoll/sim";
import { overridesFor } from "./plan.ts";
import type { RealRun } from "./summary.ts";

/** Replays beside each run. */
const SEEDS = 5;

/** What the simulation says of a run. */
export interface Simulated {
  readonly before: MeanSecond;
  readonly hiccup: MeanSecond;
  readonly after: MeanSecond;
  /** By replay. */
  readonly recoveredAtS: readonly (number | null)[];
}

/** Replays what `run` was. */
export function simulate({ plan, work }: RealRun): Simulated {
  const { setting, scale, seed, timetable } = plan;
  const { fromS, hiccupS, untilS } = timetable;
  const overrides = {
    ...overridesFor(plan),
    "db.queryMs": work.meanMs,
    ...(plan.kill === undefined && { "hiccup.factor": work.hiccupMs / work.meanMs }),
  };
  const replays: Replay[] = Array.from({ length: SEEDS }, (_, index) => {
    return replayBasketly({ setting, seed: seed + index, untilS, scale, overrides }).replay;
  });
  const phase = (from: number, to: number): MeanSecond =>
    meanOf(replays.flatMap(({ seconds }) => seconds.filter(({ at }) => at >= from && at < to)));
  return {
    before: phase(fromS, 0),
    hiccup: phase(0, hiccupS),
    after: phase(hiccupS, untilS),
    recoveredAtS: replays.map(({ seconds }) => recoveredAt(seconds)),
  };
}

/** The parts of a run. */
export const PHASES = ["before", "hiccup", "after"] as const;

/** What was measured and what was simulated, a second. */
export interface Pair {
  readonly real: number;
  readonly simulated: number;
  /** (real − simulated) ÷ simulated; null where so little happens that a share says nothing. */
  readonly error: number | null;
}

/** A row of the comparison. */
export interface ComparedRow {
  readonly name: string;
  readonly before: Pair;
  readonly hiccup: Pair;
  readonly after: Pair;
}

/** A run beside its simulation. */
export interface Compared {
  readonly setting: string;
  readonly rows: readonly ComparedRow[];
  readonly recoveredAtS: { readonly real: number | null; readonly simulated: readonly (number | null)[] };
}

type Of = (second: Omit<Second, "at">) => number;

/** What happens so often a second. */
const COUNTS: Readonly<Record<string, Of>> = {
  offered: (second) => second.offered,
  goodput: (second) => second.goodput,
  "product pages": (second) => second.product,
  "carts in full": (second) => second.cart,
  "carts without badges": (second) => second.cartDegraded,
  checkouts: (second) => second.checkout,
  failed: (second) => second.failed,
  "attempts of the apps": (second) => second.appAttempts,
  "calls to stock": (second) => second.stockCalls,
  "retries among them": (second) => second.retries,
  "timed out": (second) => second.timeouts,
  "refused by the breaker": (second) => second.refused.breaker,
  "refused by the bulkhead": (second) => second.refused.bulkhead,
  "refused by the budget": (second) => second.refused.budget,
  "work that was useful": (second) => second.dbUseful,
  "work for nobody": (second) => second.dbForNobody,
  "extra commits": (second) => second.extraCommits,
};

/** What there is so much of at a time. */
const GAUGES: Readonly<Record<string, Of>> = {
  "queued in shop-api": (second) => second.queued,
  "calls inside stock": (second) => second.insideStock,
  "waiting for a connection": (second) => second.waitingForConnection,
};

/** Fewer events than this, or a smaller gauge, differ by luck alone by more than 7 %: no share is told. */
const FEW = { events: 200, gauge: 2 } as const;

/** Holds a run against its simulation. Rows in which nothing happens on either side are left out. */
export function compare(run: RealRun, simulated: Simulated): Compared {
  const { fromS, hiccupS, untilS } = run.plan.timetable;
  const lasts = { before: -fromS, hiccup: hiccupS, after: untilS - hiccupS };
  const row = (name: string, of: Of, few: (each: number, lastsS: number) => boolean): ComparedRow => {
    const pair = (phase: (typeof PHASES)[number]): Pair => {
      const each = { real: of(run[phase]), simulated: of(simulated[phase]) };
      const none = few(each.simulated, lasts[phase]);
      return { ...each, error: none ? null : (each.real - each.simulated) / each.simulated };
    };
    return { name, before: pair("before"), hiccup: pair("hiccup"), after: pair("after") };
  };
  const rows = [
    ...Object.entries(COUNTS).map(([name, of]) => row(name, of, (each, s) => each * s < FEW.events)),
    ...Object.entries(GAUGES).map(([name, of]) => row(name, of, (each) => each < FEW.gauge)),
  ];
  return {
    setting: run.setting,
    rows: rows.filter((each) => PHASES.some((phase) => each[phase].real > 0 || each[phase].simulated > 0)),
    recoveredAtS: { real: run.recoveredAtS, simulated: simulated.recoveredAtS },
  };
}

/** Where the simulation claims to know, it is to be this near. */
export const NEAR = 0.15;

/** The rows that are further off, in words. */
export function farOff({ setting, rows }: Compared): string[] {
  return rows.flatMap((row) =>
    PHASES.filter((phase) => Math.abs(row[phase].error ?? 0) > NEAR).map(
      (phase) => `${setting}, ${phase}, ${row.name}`,
    ),
  );
}
