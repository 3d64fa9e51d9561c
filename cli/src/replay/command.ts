/** `plimsoll replay basketly`: one setting, one seed, one history. */
import { Command } from "commander";
import {
  type Figures,
  PARAMETERS,
  type ReplayOptions,
  replayBasketly,
  SCENARIOS,
  type Scenario,
  SETTINGS,
  SystemError,
} from "plimsoll/sim";
import { report } from "./report.ts";

interface Flags {
  readonly setting: string;
  readonly seed: string;
  readonly until: string;
  readonly scale: string;
  readonly set: readonly string[];
  readonly json: boolean;
}

/** The command `replay`. */
export function replayCommand(): Command {
  const basketly = new Command("basketly")
    .showHelpAfterError()
    .description("The shop whose stock service has a slow database for 20 seconds, from 20:00:00 on.")
    .requiredOption("--setting <name>", `the guards: ${SETTINGS.join(", ")}`)
    .option("--seed <n>", "seed of all randomness", "1")
    .option("--until <seconds>", "the end of the run, in seconds after 20:00:00; it starts at -15", "30")
    .option("--scale <share>", "the size of everything: 0.25 is one shop-api and two connections", "1")
    .option(
      "--set <key=value>",
      "change a parameter; at.S.KEY=VALUE from second S on, at.S.flush=true, at.S.shed=SHARE (repeatable)",
      (pair: string, before: readonly string[]) => [...before, pair],
      [],
    )
    .option("--json", "print the whole run as JSON", false)
    .addHelpText("after", () => `\nKeys of --set:\n${keys()}`)
    .action((flags: Flags) => run(flags));
  const replay = new Command("replay")
    .showHelpAfterError()
    .description("Replay a scenario on a virtual clock, with the guards that ship.")
    .addCommand(basketly);
  for (const scenario of SCENARIOS) replay.addCommand(smallCommand(scenario));
  return replay;
}

function smallCommand(scenario: Scenario): Command {
  return new Command(scenario.name)
    .description(scenario.about)
    .option("--seed <n>", "seed of all randomness", "1")
    .option("--json", "print the figures as JSON", false)
    .action(({ seed, json }: { seed: string; json: boolean }) => runSmall(scenario, seed, json));
}

function runSmall(scenario: Scenario, seedText: string, json: boolean): void {
  orSay(() => {
    const seed = number("--seed", seedText);
    if (!Number.isInteger(seed) || seed < 0 || seed > 4_294_967_295)
      throw new SystemError([
        { path: "--seed", value: seedText, allowed: "a whole number from 0 to 4294967295" },
      ]);
    const figures = scenario.run(seed);
    process.stdout.write(
      json
        ? `${JSON.stringify({ scenario: scenario.name, seed, figures })}\n`
        : smallReport(scenario, figures),
    );
  });
}

function smallReport({ about }: Scenario, figures: Figures): string {
  const rows = Object.entries(figures).map(([name, value]) => `  ${name}: ${Number(value.toFixed(3))}\n`);
  return `${about}\n${rows.join("")}`;
}

function run(flags: Flags): void {
  const small = SCENARIOS.find(({ name }) => name === flags.setting);
  if (small !== undefined) return runSmall(small, flags.seed, flags.json);
  orSay(() => {
    const { replay } = replayBasketly(optionsOf(flags));
    process.stdout.write(flags.json ? `${JSON.stringify(replay)}\n` : report(replay));
  });
}

/** Runs; what is wrong with the arguments is said in a line. */
function orSay(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    console.error(`plimsoll: ${error.message}`);
    process.exitCode = 1;
  }
}

function optionsOf({ setting, seed, until, scale, set }: Flags): ReplayOptions {
  return {
    setting,
    seed: number("--seed", seed),
    untilS: number("--until", until),
    scale: number("--scale", scale),
    overrides: Object.fromEntries(set.map(pairOf)),
  };
}

function number(path: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new SystemError([{ path, value: text, allowed: "a number" }]);
}

function pairOf(pair: string): [string, string] {
  const at = pair.indexOf("=");
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
  throw new SystemError([{ path: "--set", value: pair, allowed: "KEY=VALUE" }]);
}

function keys(): string {
  const rows = Object.entries(PARAMETERS);
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(([name, { value, about }]) => `  ${name.padEnd(width)}  ${about} (as shipped: ${value})`)
    .join("\n");
}
