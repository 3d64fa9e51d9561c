/** One run of the real shop: its processes, one setting, one trouble; and what was seen, in the simulator's terms. */
import type { PostgresServer } from "./database/server.ts";
import { Tables } from "./database/tables.ts";
import { Fleet } from "./fleet.ts";
import { MachineLoad } from "./machine.ts";
import { checkPlan, type Plan, parametersFor } from "./plan.ts";
import { type RealRun, summary } from "./summary.ts";

/** What a run needs beside its plan. */
export interface RunOptions {
  readonly postgres: PostgresServer;
  /** The first of the services' ports; 0 for free ones. */
  readonly port?: number;
  /** Hears, in words, how far the run is. */
  readonly progress: (words: string) => void;
  /** Ends the run at once. */
  readonly signal: AbortSignal;
  /** Hears which processes there are, by name: when the run begins, and when one was started again. */
  readonly started?: (pids: Readonly<Record<string, number>>) => void;
  /** Pieces of work that are measured at the start. Default 1,500: enough for a mean within 2.6 %. */
  readonly pieces?: number;
}

/** How long the children get to settle before zero, beside the load's own warm-up. */
const SETTLE_MS = 500;
const PIECES = 1_500;
/** As a share of them: what a piece takes beside the storage varies less. */
const REST = 0.2;
/** And before anything is measured: connections know the statements then, and code is compiled. */
const PRACTICE = 0.3;

/** Runs `plan`. Leaves no process and no table behind, however it ends. */
export async function run(plan: Plan, options: RunOptions): Promise<RealRun> {
  const { postgres, port = 0, signal } = options;
  signal.throwIfAborted();
  checkPlan(plan);
  const tables = await Tables.create(postgres.url);
  const fleet = new Fleet({ plan, postgres, tables, port });
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
  });
  aborted.catch(() => {});
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, runWith(fleet, tables, plan, options)]);
  } finally {
    signal.removeEventListener("abort", abort);
    await fleet.stop();
    // A server that was killed, or is going, takes its tables along.
    await tables.drop().catch(() => {});
  }
}

async function runWith(fleet: Fleet, tables: Tables, plan: Plan, options: RunOptions): Promise<RealRun> {
  const { progress, started } = options;
  progress("starting the services");
  await fleet.start();
  progress("measuring stock's work");
  const work = await measure(fleet, tables, plan, options.pieces ?? PIECES);
  progress("warming up");
  await fleet.warmUp();
  started?.(fleet.pids);
  await tables.forget();
  const zeroAtMs = performance.timeOrigin + performance.now() + SETTLE_MS + (1 - plan.timetable.fromS) * 1000;
  fleet.begin(zeroAtMs);
  const machine = new MachineLoad();
  const trouble = async (): Promise<void> => {
    await makeTrouble(fleet, tables, plan, work.restMs, zeroAtMs);
    if (plan.kill !== undefined) started?.(fleet.pids);
  };
  await Promise.race([fleet.died, Promise.all([trouble(), watch(plan, machine, zeroAtMs, progress)])]);
  progress("waiting for the last answers");
  const reports = await fleet.end();
  const extra = await tables.extraCommits(zeroAtMs);
  const commits = { name: "tables", report: { seconds: extra, vitals: [], steps: [] } };
  return summary(plan, [...reports, commits], { work, machine: machine.all });
}

/**
 * Sets the storage's speed such that a piece of stock's work takes what the page says, and measures what it takes.
 * The storage is not all of it: what the rest takes is measured first, without any.
 */
async function measure(fleet: Fleet, tables: Tables, plan: Plan, pieces: number): Promise<RealRun["work"]> {
  await tables.setStorageMs(0);
  await fleet.measure(Math.ceil(PRACTICE * pieces));
  const restMs = await fleet.measure(Math.ceil(REST * pieces));
  const storage = storageOf(plan, restMs);
  await tables.setStorageMs(storage.healthyMs);
  const meanMs = await fleet.measure(pieces);
  // What was disturbed may come out as nothing at all.
  const real = Math.max(LEAST_SHARE, (meanMs - restMs) / storage.healthyMs);
  return { meanMs, restMs, hiccupMs: restMs + real * storage.hiccupMs };
}

/** A sleep takes at least this share of what it should. */
const LEAST_SHARE = 0.5;

/** What is left to the storage of the page's 4 and 40 ms, ms. */
function storageOf(plan: Plan, restMs: number): { healthyMs: number; hiccupMs: number } {
  const { "db.queryMs": queryMs, "hiccup.factor": factor } = parametersFor(plan);
  const least = queryMs / 10;
  return {
    healthyMs: Math.max(least, queryMs - restMs),
    hiccupMs: Math.max(least, queryMs * factor - restMs),
  };
}

/** What goes wrong, and ends again. */
async function makeTrouble(
  fleet: Fleet,
  tables: Tables,
  plan: Plan,
  restMs: number,
  zeroAtMs: number,
): Promise<void> {
  const { kill, timetable } = plan;
  const storage = storageOf(plan, restMs);
  if (timetable.hiccupS === 0) return;
  await until(zeroAtMs);
  if (kill === undefined) await tables.setStorageMs(storage.hiccupMs);
  else await fleet.kill(kill);
  await until(zeroAtMs + timetable.hiccupS * 1000);
  if (kill === undefined) await tables.setStorageMs(storage.healthyMs);
  else await fleet.startAgain(kill);
}

/** Tells how far the run is, second by second, and reads how busy the machine is. */
async function watch(
  { timetable, kill }: Plan,
  machine: MachineLoad,
  zeroAtMs: number,
  progress: RunOptions["progress"],
): Promise<void> {
  const { fromS, hiccupS, untilS } = timetable;
  const within = kill === undefined ? "hiccup" : `without ${kill}`;
  const after = kill === undefined ? "after the hiccup" : `${kill} is back`;
  for (let second = fromS; second < untilS; second++) {
    await until(zeroAtMs + second * 1000);
    machine.read(second - 1);
    const phase = second < 0 ? "healthy" : second < hiccupS ? within : after;
    progress(`second ${second} of ${untilS}, ${phase}`);
  }
}

function until(wallMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, wallMs - performance.timeOrigin - performance.now()));
}
