/** What the main job prints: two replays and two real runs in one table each, and what was seen in two sentences. */
import type { Replay, Second } from "plimsoll/sim";
import { parametersOf } from "plimsoll/system";
import type { RealRun } from "./run.ts";

const BARS = " ▁▂▃▄▅▆▇█";

/** A line of bars, a second each. */
export function bars(values: readonly number[], full: number): string {
  const step = (value: number): number => Math.max(0, Math.min(8, Math.round((value / full) * 8)));
  return values.map((value) => BARS[step(value)]).join("");
}

interface Row {
  readonly name: string;
  readonly cells: readonly string[];
}

function table(titles: readonly string[], rows: readonly Row[]): string {
  const first = Math.max(...rows.map((row) => row.name.length));
  const widths = titles.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => (row.cells[i] ?? "").length)),
  );
  const line = (name: string, cells: readonly string[]): string =>
    `${name.padEnd(first)}  ${cells.map((cell, i) => cell.padStart(widths[i] ?? 0)).join("  ")}`;
  return [line("", titles), ...rows.map((row) => line(row.name, row.cells))].join("\n");
}

const whole = (value: number | null): string => (value === null ? "-" : value.toFixed(0));
const at = (second: number | null): string => (second === null ? "never" : `${second} s`);

/** The two replays, side by side. */
export function replayReport(replays: readonly Replay[], ms: number): string {
  const full = Math.max(...replays.flatMap((replay) => replay.seconds.map((second) => second.offered)));
  const chart = replays.map((replay) => {
    const lines = replay.seconds.map((second) => second.goodput);
    return `${replay.setting.padStart(8)} |${bars(lines, full)}|`;
  });
  const rows = replays.map(({ setting, hiccup, recoveredAtS }) => ({
    name: setting,
    cells: [
      hiccup.offered,
      hiccup.goodput,
      hiccup.cartDegraded,
      hiccup.failed,
      hiccup.stockCalls,
      hiccup.dbForNobody,
    ]
      .map(whole)
      .concat(at(recoveredAtS)),
  }));
  const titles = [
    "offered",
    "goodput",
    "degraded",
    "failed",
    "calls to stock",
    "work for nobody",
    "recovered at",
  ];
  const until = (replays[0]?.seconds.at(-1)?.at ?? 0) + 1;
  return [
    `Replayed in ${(ms / 1000).toFixed(1)} s: Basketly, its database ten times slower from second 0 to 20. Means a second in the hiccup:`,
    "",
    table(titles, rows),
    "",
    `Goodput, a column a second, from −15 to ${until}:`,
    ...chart,
  ].join("\n");
}

/** The real runs, beside the simulation of the same file with the measured time of stock's work. */
export function realReport(runs: readonly RealRun[], simulated: readonly Replay[]): string {
  const titles = [
    "offered",
    "product",
    "cart",
    "degraded",
    "checkout",
    "failed",
    "calls to stock",
    "work for nobody",
    "p50 ms",
    "p99 ms",
    "recovered at",
  ];
  const rows = runs.flatMap((run) => {
    const simulation = simulated.find((replay) => replay.setting === run.setting);
    return (["before", "hiccup", "after"] as const)
      .map((name): Row => {
        const phase = run[name];
        const counts = [
          phase.offered,
          phase.product,
          phase.cart,
          phase.cartDegraded,
          phase.checkout,
          phase.failed,
          phase.stockCalls,
          phase.dbForNobody,
        ];
        const recovered = name === "after" ? at(run.recoveredAtS) : "";
        return {
          name: `${run.setting}, ${name}`,
          cells: [...counts.map(whole), whole(phase.p50Ms), whole(phase.p99Ms), recovered],
        };
      })
      .concat(simulation === undefined ? [] : [simulatedRow(simulation)]);
  });
  const full = Math.max(...runs.flatMap((run) => run.seconds.map((second) => second.offered)));
  return [
    "On real HTTP, a quarter of Basketly, its storage ten times slower from second 0 to 10. Means a second:",
    "",
    table(titles, rows),
    "",
    ...chart("goodput", runs, full, (second) => second.goodput),
    ...chart("work for nobody", runs, full, (second) => second.dbForNobody),
  ].join("\n");
}

function simulatedRow({ setting, hiccup, recoveredAtS }: Replay): Row {
  const counts = [
    hiccup.offered,
    hiccup.product,
    hiccup.cart,
    hiccup.cartDegraded,
    hiccup.checkout,
    hiccup.failed,
    hiccup.stockCalls,
    hiccup.dbForNobody,
  ];
  return { name: `${setting}, hiccup, simulated`, cells: [...counts.map(whole), "", "", at(recoveredAtS)] };
}

function chart(
  title: string,
  runs: readonly RealRun[],
  full: number,
  of: (second: Second) => number,
): string[] {
  return runs.map(
    (run) => `${title.padStart(15)} ${run.setting.padStart(8)} |${bars(run.seconds.map(of), full)}|`,
  );
}

/** What was seen, in two sentences: how the shop as shipped fell, and how the guarded one stood. */
export function seen(runs: readonly RealRun[], hiccupS: number): string {
  const shipped = runs.find((run) => run.setting === "C0");
  const guarded = runs.find((run) => run.setting !== "C0");
  return shipped === undefined || guarded === undefined
    ? ""
    : `${howItFell(shipped, hiccupS)} ${howItStood(guarded, hiccupS)}`;
}

/** The queues need these seconds to fill; and this share of the offered load is no service. */
const FIRST_SECONDS = 3;
const DOWN = 0.05;

function howItFell({ seconds, after, recoveredAtS }: RealRun, hiccupS: number): string {
  const fallen = seconds.filter(({ at }) => at >= FIRST_SECONDS && at < hiccupS + 20);
  const sum = (of: (second: Second) => number): number =>
    fallen.reduce((total, second) => total + of(second), 0);
  const answered = sum((second) => second.goodput) / sum((second) => second.offered);
  const share = percent(after.goodput, after.offered);
  const wasted = after.dbForNobody.toFixed(0);
  if (recoveredAtS === null && answered < DOWN)
    return `As shipped it never came back: after the hiccup ${share} of what was offered was answered in full, while stock did ${wasted} pieces of work a second for nobody.`;
  const back = recoveredAtS === null ? "" : `, and it was back at second ${recoveredAtS}`;
  const work = (after.dbUseful + after.dbForNobody).toFixed(0);
  return `As shipped it did not stay down: after the hiccup ${share} of what was offered was answered in full${back}, because too little of stock's work was for nobody: ${wasted} of ${work} pieces a second, from ${after.appAttempts.toFixed(0)} attempts of the apps and ${after.stockCalls.toFixed(0)} calls to stock.`;
}

/** When its breakers are closed, it is back this many seconds after the hiccup at the latest. */
const BACK_WITHIN_S = 2;

function howItStood({ setting, seconds, before, hiccup, ...run }: RealRun, hiccupS: number): string {
  const { recoveredAtS, badSeconds } = run;
  const kept = `With its guards it kept ${percent(hiccup.product, before.product)} of its product pages in the hiccup, served ${hiccup.cartDegraded.toFixed(0)} carts a second without badges, and`;
  if (recoveredAtS === null) return `${kept} was not back for good by the end.`;
  const remarks = badSeconds.map((second) => `one bad second since: ${second}`);
  const refusing = seconds.some(
    ({ at, refused }) => at >= hiccupS && at < recoveredAtS && refused.breaker > 0,
  );
  const openS = (parametersOf(setting)?.["breaker.openMs"] ?? 0) / 1000;
  if (recoveredAtS > hiccupS + BACK_WITHIN_S && refusing)
    remarks.unshift(`a breaker had opened just before the hiccup's end, for ${openS} s`);
  const remark = remarks.length === 0 ? "" : ` (${remarks.join("; ")})`;
  return `${kept} was back at second ${recoveredAtS}, ${recoveredAtS - hiccupS} s after the hiccup's end${remark}.`;
}

const percent = (part: number, of: number): string => `${((100 * part) / of).toFixed(0)} %`;
