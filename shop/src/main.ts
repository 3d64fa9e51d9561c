/**
 * The main job, `npm start`: an outage replayed against the guards that ship, and then the same on real HTTP.
 *
 * The shop as shipped (C0) beside the shop with its guards, first at full size on a virtual clock, then a quarter of
 * it as three processes on loopback. With `--json` stdout holds one object; progress goes to stderr.
 */
import { type Replay, type ReplayOptions, replayBasketly } from "plimsoll/sim";
import { type Plan, TIMETABLE } from "./plan.ts";
import { realReport, replayReport, seen } from "./report.ts";
import { type RealRun, run } from "./run.ts";

const SETTINGS = ["C0", "guarded"] as const;
const SCALE = 0.25;
const SEED = 1;
/** A generator further behind than this at P99 (an eighth of an app's patience) has not offered what it should have. */
const MAX_LAG_MS = 250;

const json = process.argv.includes("--json");
const unknown = process.argv.slice(2).filter((argument) => argument !== "--json");
if (unknown.length > 0) {
  console.error(`plimsoll: ${unknown.join(" ")} is not known here; allowed: --json`);
  process.exit(2);
}
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    interrupted.abort();
    process.exitCode = 130;
  });
}

try {
  await main();
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  console.error("\nstopped; nothing is left running");
}

async function main(): Promise<void> {
  const from = performance.now();
  const replay = SETTINGS.map((setting) => replayBasketly({ setting, seed: SEED, untilS: 30 }).replay);
  if (!json) console.log(`${replayReport(replay, performance.now() - from)}\n`);

  const runs: RealRun[] = [];
  for (const setting of SETTINGS) {
    const plan: Plan = { setting, scale: SCALE, seed: SEED, timetable: TIMETABLE };
    runs.push(
      await run(
        plan,
        (words) => tell(`${setting} on real HTTP (${runs.length + 1} of 2): ${words}`),
        interrupted.signal,
      ),
    );
  }
  tell("");
  const simulated = runs.map(simulate);
  const lagMs = Math.max(...runs.map((each) => each.lagMs.p99));
  if (json) {
    console.log(JSON.stringify({ replay, real: { lagMs, runs, simulated } }));
    if (lagMs > MAX_LAG_MS) console.error(noResult(lagMs));
  } else console.log(`${realReport(runs, simulated)}\n\n${verdict(runs, lagMs)}`);
}

/** The same run on the virtual clock: the same file at the same scale, with the time that stock's work really took. */
function simulate({ setting, meanWorkMs }: RealRun): Replay {
  const overrides = { "db.queryMs": meanWorkMs, "hiccup.toS": TIMETABLE.hiccupS };
  const options: ReplayOptions = { setting, seed: SEED, untilS: TIMETABLE.untilS, scale: SCALE, overrides };
  return replayBasketly(options).replay;
}

function verdict(runs: readonly RealRun[], lagMs: number): string {
  const fact = ({ setting, lagMs: lag, meanWorkMs }: RealRun): string =>
    `${setting}: the load generator was ${lag.p99.toFixed(0)} ms late at P99, stock's work took ${meanWorkMs.toFixed(2)} ms on average.`;
  const facts = runs.map(fact).join("\n");
  return `${lagMs > MAX_LAG_MS ? noResult(lagMs) : seen(runs, TIMETABLE.hiccupS)}\n${facts}`;
}

function noResult(lagMs: number): string {
  return `This is no result: the load generator itself fell behind by ${lagMs.toFixed(0)} ms (P99), because this machine is too busy.`;
}

/** Progress: one line that is written over on a terminal, a line a time elsewhere. */
function tell(words: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${words}`);
  else if (words !== "") process.stderr.write(`${words}\n`);
}
