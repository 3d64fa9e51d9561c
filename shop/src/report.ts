/** What the commands print: replays, real runs beside their simulations, and what was seen in two sentences. */
import type { Replay, Second } from "plimsoll/sim";
import { parametersOf } from "plimsoll/system";
import { type Compared, farOff, NEAR, type Pair, PHASES } from "./compare.ts";
import type { RealRun } from "./summary.ts";
import { bars, table } from "./table.ts";

const whole = (value: number | null): string => (value === null ? "-" : value.toFixed(0));
const at = (second: number | null): string => (second === null ? "never" : `${second} s`);
const percent = (part: number, of: number): string => `${((100 * part) / of).toFixed(0)} %`;

/** The replays, side by side. */
export function replayReport(replays: readonly Replay[], ms: number): string {
  const full = Math.max(...replays.flatMap((replay) => replay.seconds.map((second) => second.offered)));
  const lines = replays.map((replay) => {
    const values = replay.seconds.map((second) => second.goodput);
    return `${replay.setting.padStart(8)} |${bars(values, full)}|`;
  });
  const rows = replays.map(({ setting, hiccup, recoveredAtS }) => {
    const { offered, goodput, cartDegraded, failed, stockCalls, dbForNobody } = hiccup;
    const counts = [offered, goodput, cartDegraded, failed, stockCalls, dbForNobody];
    return { name: setting, cells: [...counts.map(whole), at(recoveredAtS)] };
  });
  const counted = ["offered", "goodput", "degraded", "failed", "calls to stock", "work for nobody"];
  const until = (replays[0]?.seconds.at(-1)?.at ?? 0) + 1;
  return [
    `Replayed in ${(ms / 1000).toFixed(1)} s: Basketly, its database ten times slower from second 0 to 20. Means a second in the hiccup:`,
    "",
    table([...counted, "recovered at"], rows),
    "",
    `Goodput, a column a second, from −15 to ${until}:`,
    ...lines,
  ].join("\n");
}

/** A real run, beside the simulation of the same file with the measured time of stock's work. */
export function comparedReport(compared: Compared): string {
  const titles = PHASES.flatMap((phase) => [phase, "simulated", "error"]);
  const rows = compared.rows.map((row) => ({
    name: `${compared.setting}: ${row.name}`,
    cells: PHASES.flatMap((phase) => cells(row[phase])),
  }));
  const { real, simulated } = compared.recoveredAtS;
  const off = farOff(compared);
  return [
    table(titles, rows),
    `${compared.setting}: recovered at: ${at(real)}; simulated (by seed): ${simulated.map(at).join(", ")}`,
    ...(off.length === 0
      ? []
      : [`More than ${percent(NEAR, 1)} off: ${off.join("; ")}. docs/truth.md says what is known of why.`]),
  ].join("\n");
}

function cells({ real, simulated, error }: Pair): string[] {
  const shown = (value: number): string => (value > 0 && value < 10 ? value.toFixed(1) : value.toFixed(0));
  const sign = error !== null && error >= 0 ? "+" : "";
  return [shown(real), shown(simulated), error === null ? "" : `${sign}${percent(error, 1)}`];
}

/** A line of bars for each run. */
export function chart(title: string, runs: readonly RealRun[], of: (second: Second) => number): string {
  const full = Math.max(...runs.flatMap((run) => run.seconds.map((second) => second.offered)));
  return runs
    .map((run) => `${title.padStart(15)} ${run.setting.padStart(8)} |${bars(run.seconds.map(of), full)}|`)
    .join("\n");
}

/** What each process took, and how late its event loop was. */
export function vitalsReport({ setting, before, hiccup, after, work, lagMs }: RealRun): string {
  const phases = [before, hiccup, after];
  const rows = Object.keys(before.processes).map((name) => ({
    name: `${setting}: ${name}`,
    cells: phases.flatMap(({ processes }) => {
      const { cpu, lagMs: late, maxLagMs } = processes[name] ?? { cpu: 0, lagMs: 0, maxLagMs: 0 };
      return [percent(cpu, 1), late.toFixed(1), maxLagMs.toFixed(0)];
    }),
  }));
  const machine = {
    name: `${setting}: the machine`,
    cells: phases.flatMap((phase) => [percent(phase.machine, 1), "", ""]),
  };
  const took = phases.map(({ workMs }) => (workMs === null ? "-" : workMs.toFixed(2))).join(", ");
  return [
    table(
      PHASES.flatMap((phase) => [`${phase}: CPU`, "late ms", "most"]),
      [...rows, machine],
    ),
    `${setting}: a piece of stock's work takes ${work.meanMs.toFixed(2)} ms as measured at the start, of which ${work.restMs.toFixed(2)} ms are not the storage's; those that were finished took ${took} ms before, in and after the hiccup.`,
    `${setting}: the load generator was ${lagMs.p99.toFixed(0)} ms late at P99.`,
  ].join("\n");
}

/** What was seen, in two sentences: how the shop as shipped fell, and how the guarded one stood. */
export function seen(runs: readonly RealRun[], hiccupS: number): string {
  const shipped = runs.find((run) => run.setting === "C0");
  const guarded = runs.find((run) => run.setting === "guarded");
  return shipped === undefined || guarded === undefined
    ? ""
    : `${howItFell(shipped, hiccupS)} ${howItStood(guarded, hiccupS)}`;
}

/** The queues need these seconds to fill; and this share of the offered load is no service. */
const FIRST_SECONDS = 3;
const DOWN = 0.05;

/** The share of the load that was answered in full from the hiccup's first seconds to 20 s after its end. */
export function answeredWhileDown(seconds: readonly Second[], hiccupS: number): number {
  const fallen = seconds.filter((second) => second.at >= FIRST_SECONDS && second.at < hiccupS + 20);
  const sum = (of: (second: Second) => number): number =>
    fallen.reduce((total, second) => total + of(second), 0);
  return sum((second) => second.goodput) / sum((second) => second.offered);
}

function howItFell({ seconds, after, recoveredAtS }: RealRun, hiccupS: number): string {
  const share = percent(after.goodput, after.offered);
  const wasted = after.dbForNobody.toFixed(0);
  if (recoveredAtS === null && answeredWhileDown(seconds, hiccupS) < DOWN)
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
    (second) => second.at >= hiccupS && second.at < recoveredAtS && second.refused.breaker > 0,
  );
  const openS = (parametersOf(setting)?.["breaker.openMs"] ?? 0) / 1000;
  if (recoveredAtS > hiccupS + BACK_WITHIN_S && refusing)
    remarks.unshift(`a breaker had opened just before the hiccup's end, for ${openS} s`);
  const remark = remarks.length === 0 ? "" : ` (${remarks.join("; ")})`;
  return `${kept} was back at second ${recoveredAtS}, ${recoveredAtS - hiccupS} s after the hiccup's end${remark}.`;
}

/** How a run went in which something was killed. */
export function killReport(run: RealRun, what: string): string {
  const titles = [
    "offered",
    "product",
    "cart",
    "degraded",
    "checkout",
    "failed",
    "calls to stock",
    "p50 ms",
    "p99 ms",
  ];
  const names = { before: "before", hiccup: `without ${what}`, after: `${what} is back` };
  const rows = PHASES.map((phase) => {
    const { offered, product, cart, cartDegraded, checkout, failed, stockCalls, p50Ms, p99Ms } = run[phase];
    const values = [offered, product, cart, cartDegraded, checkout, failed, stockCalls, p50Ms, p99Ms];
    return { name: `${run.setting}, ${names[phase]}`, cells: values.map(whole) };
  });
  const { hiccupS } = run.plan.timetable;
  const back =
    run.recoveredAtS === null
      ? "The shop was not back for good by the end."
      : `The shop was back at second ${run.recoveredAtS}, ${run.recoveredAtS - hiccupS} s later.`;
  return [
    table(titles, rows),
    "",
    `${what} was killed (SIGKILL) at second 0 and started again at second ${hiccupS}, on the same port; no other process was restarted. ${back}`,
  ].join("\n");
}
