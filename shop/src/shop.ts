/** `npm run shop`: one run of the real shop, in one setting, with one trouble. */
import { ArgumentError, described, flag, oneOf, readArguments, wholeNumber } from "./arguments.ts";
import { compare, simulate } from "./compare.ts";
import { SCALES, scaleFor } from "./machine.ts";
import { DEAD_S, KILLABLE, type Plan, SHOP_SETTINGS, timetable } from "./plan.ts";
import { HIGHEST_ASKED, LOWEST_ASKED } from "./ports.ts";
import { chart, comparedReport, killReport, vitalsReport } from "./report.ts";
import { run } from "./run.ts";
import { command, tell, withPostgres } from "./session.ts";
import type { RealRun } from "./summary.ts";
import { followed, traceReport } from "./trace-report.ts";
import { postgresUrl } from "./urls.ts";
import { noResult } from "./verdict.ts";

const HICCUP_S = 20;

const ARGUMENTS = {
  setting: oneOf(SHOP_SETTINGS, "guarded", "which guards"),
  hiccup: wholeNumber(0, 3_600, undefined, "seconds for which the storage is ten times slower; 0 for none"),
  scale: oneOf(
    Object.keys(SCALES),
    scaleFor(),
    "size of the shop; without it as large as this machine can bear",
  ),
  kill: oneOf(KILLABLE, undefined, `kill this instead of a hiccup, and start it again ${DEAD_S} s later`),
  trace: flag("follow carts and checkouts through all hops"),
  seed: wholeNumber(0, 1_000_000, 1, "seed of the load"),
  port: wholeNumber(
    LOWEST_ASKED,
    HIGHEST_ASKED - 16,
    0,
    "first of the services' ports; without it free ones",
  ),
  postgres: postgresUrl,
  json: flag("print one JSON object"),
  help: flag("say all this"),
};

await command(async (signal) => {
  const values = readArguments(process.argv.slice(2), ARGUMENTS);
  if (values.help) {
    console.log(`npm run shop -- [arguments]\n\n${described(ARGUMENTS)}`);
    return;
  }
  const { scale, postgres: url, json, port } = values;
  const plan = planOf(values);
  if (!json) console.log(`Basketly for real: ${plan.setting} at scale ${scale}, seed ${plan.seed}.`);
  const result = await withPostgres(url, signal, (postgres) =>
    run(plan, { postgres, signal, port, progress: tell }),
  );
  if (json) {
    console.log(JSON.stringify({ scale, run: result, ...(plan.kill === undefined && simulated(result)) }));
    for (const words of noResult(result)) console.error(words);
  } else console.log(reportOf(plan, result));
});

type Arguments = ReturnType<typeof readArguments<typeof ARGUMENTS>>;

function planOf({ setting, hiccup, scale, kill, trace, seed, postgres }: Arguments): Plan {
  if (kill !== undefined && hiccup !== undefined) {
    throw new ArgumentError(`--hiccup: got ${hiccup}; allowed: none beside --kill, one trouble at a time`);
  }
  if (kill === "postgres" && postgres !== undefined) {
    throw new ArgumentError(
      "--kill: got postgres; allowed: stock beside --postgres, that server is not ours to kill",
    );
  }
  const lastsS = kill === undefined ? (hiccup ?? HICCUP_S) : DEAD_S;
  return {
    setting,
    scale: SCALES[scale] ?? 1,
    seed,
    timetable: timetable(lastsS),
    ...(kill !== undefined && { kill }),
    trace,
  };
}

function simulated(result: RealRun) {
  return { compared: compare(result, simulate(result)) };
}

function reportOf(plan: Plan, result: RealRun): string {
  const doubts = noResult(result);
  const body =
    plan.kill === undefined ? comparedReport(simulated(result).compared) : killReport(result, plan.kill);
  const traces = plan.trace === true ? [traceReport(followed(result.traces), plan), ""] : [];
  return [
    "Means a second:",
    "",
    body,
    "",
    vitalsReport(result),
    "",
    chart("goodput", [result], (second) => second.goodput),
    chart("work for nobody", [result], (second) => second.dbForNobody),
    "",
    ...traces,
    ...doubts,
  ]
    .join("\n")
    .trimEnd();
}
