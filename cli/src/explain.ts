/** `plimsoll explain`: what the guards of a system file mean, in words and numbers. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import {
  basketlySystem,
  explainSystem,
  parametersOf,
  readSystem,
  SETTINGS,
  SystemError,
  type SystemFile,
} from "plimsoll/system";
import { explainText } from "./explain-text.ts";

/** The command `explain`. */
export function explainCommand(): Command {
  const basketly = new Command("basketly")
    .showHelpAfterError()
    .description("The guards of one of Basketly's settings.")
    .requiredOption("--setting <name>", SETTINGS.join(", "))
    .option("--json", "print numbers and sentences as JSON", false)
    .action(({ setting, json }: { setting: string; json: boolean }) =>
      print(() => {
        const parameters = parametersOf(setting);
        if (parameters === undefined)
          throw new SystemError([{ path: "--setting", value: setting, allowed: SETTINGS.join(", ") }]);
        return basketlySystem(parameters);
      }, json),
    );
  const file = new Command("file")
    .showHelpAfterError()
    .description("The guards of a system file.")
    .argument("<path>", "a system file as JSON")
    .option("--json", "print numbers and sentences as JSON", false)
    .action((path: string, { json }: { json: boolean }) => print(() => readSystem(parsed(path)), json));
  return new Command("explain")
    .showHelpAfterError()
    .description("Print what guards mean: attempts and waits at worst, and when they refuse.")
    .addCommand(basketly)
    .addCommand(file);
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, "")); // some editors mark UTF-8 so
  } catch (error) {
    const { message } = error as Error;
    throw new SystemError([
      { path: "<path>", value: path, allowed: `a JSON file that can be read (${message})` },
    ]);
  }
}

function print(system: () => SystemFile, json: boolean): void {
  try {
    const explained = explainSystem(system());
    process.stdout.write(json ? `${JSON.stringify(explained)}\n` : explainText(explained));
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    console.error(`plimsoll: ${error.message}`);
    process.exitCode = 1;
  }
}
