/**
 * The main job, `npm start`: an outage replayed against the guards that ship, and then the same in the real shop.
 *
 * The shop as shipped (C0) beside the shop with its guards, first at full size on a virtual clock, then as processes
 * and a PostgreSQL on this machine, each real run beside the simulation of just that. With `--json` stdout holds one
 * object; progress goes to stderr.
 */
import { replayBasketly } from "plimsoll/sim";
import { described, flag, oneOf, readArguments, wholeNumber } from "./arguments.ts";
import { type Compared, compare, simulate } from "./compare.ts";
import { SCALES, scaleFor } from "./machine.ts";
import { type Plan, SHOP_SETTINGS, type ShopSetting, timetable } from "./plan.ts";
import { chart, comparedReport, replayReport, seen, vitalsReport } from "./report.ts";
import { run } from "./run.ts";
import { command, tell, withPostgres } from "./session.ts";
import type { RealRun } from "./summary.ts";
import { postgresUrl } from "./urls.ts";
import { noResult } from "./verdict.ts";

const PAIR: readonly ShopSetting[] = ["C0", "guarded"];
const HICCUP_S = 20;

const ARGUMENTS = {
  all: flag("run every setting for real, not only C0 and guarded"),
  scale: oneOf(
    Object.keys(SCALES),
    scaleFor(),
    "size of the real shop; without it as large as this machine can bear",
  ),
  seed: wholeNumber(0, 1_000_000, 1, "seed of the load"),
  postgres: postgresUrl,
  json: flag("print one JSON object"),
  help: flag("say all this"),
};

await command(async (signal) => {
  const { all, scale, seed, postgres: url, json, help } = readArguments(process.argv.slice(2), ARGUMENTS);
  if (help) {
    console.log(`npm start -- [arguments]\n\n${described(ARGUMENTS)}`);
    return;
  }
  const from = performance.now();
  const replay = PAIR.map((setting) => replayBasketly({ setting, seed, untilS: 30 }).replay);
  if (!json) console.log(`${replayReport(replay, performance.now() - from)}\n`);

  const settings = all ? SHOP_SETTINGS : PAIR;
  const runs = await withPostgres(url, signal, async (postgres) => {
    const done: RealRun[] = [];
    for (const [index, setting] of settings.entries()) {
      const plan: Plan = { setting, scale: SCALES[scale] ?? 1, seed, timetable: timetable(HICCUP_S) };
      const head = `${setting} for real (${index + 1} of ${settings.length})`;
      done.push(await run(plan, { postgres, signal, progress: (words) => tell(`${head}: ${words}`) }));
    }
    return done;
  });
  tell("simulating the same");
  const compared = runs.map((each) => compare(each, simulate(each)));
  tell("");
  const lagMs = Math.max(...runs.map((each) => each.lagMs.p99));
  if (json) {
    console.log(JSON.stringify({ replay, real: { lagMs, scale, runs, compared } }));
    for (const words of runs.flatMap(noResult)) console.error(words);
  } else console.log(realReport(scale, runs, compared));
});

function realReport(scale: string, runs: readonly RealRun[], compared: readonly Compared[]): string {
  const doubts = runs.flatMap(noResult);
  return [
    `For real, at scale ${scale}: services as processes, a PostgreSQL, its storage ten times slower from second 0 to ${HICCUP_S}. Means a second:`,
    "",
    ...compared.flatMap((each) => [comparedReport(each), ""]),
    ...runs.flatMap((each) => [vitalsReport(each), ""]),
    chart("goodput", runs, (second) => second.goodput),
    chart("work for nobody", runs, (second) => second.dbForNobody),
    "",
    ...(doubts.length > 0 ? doubts : [seen(runs, HICCUP_S)]),
  ].join("\n");
}
