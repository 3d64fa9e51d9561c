import { readFileSync } from "node:fs";
import { Command } from "commander";
import { explainCommand } from "./explain.ts";
import { optionsCommand } from "./options.ts";
import { replayCommand } from "./replay/command.ts";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const program = new Command("plimsoll")
  .description(
    "Bounds for the calls a service makes and the work it accepts, and a replay that runs the same guards.",
  )
  .version(manifest.version)
  .showHelpAfterError()
  .addCommand(replayCommand())
  .addCommand(explainCommand())
  .addCommand(optionsCommand());

await program.parseAsync();
