/** `plimsoll explain`: what the guards of a system file mean, in words and numbers. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import {
  attemptsAlong,
  basketlySystem,
  bindEdge,
  explain,
  parametersOf,
  readSystem,
  SETTINGS,
  SystemError,
  type SystemFile,
} from "plimsoll/system";

/** The command `explain`. */
export function explainCommand(): Command {
  const basketly = new Command("basketly")
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
    .description("The guards of a system file.")
    .argument("<path>", "a system file as JSON")
    .option("--json", "print numbers and sentences as JSON", false)
    .action((path: string, { json }: { json: boolean }) => print(() => readSystem(parsed(path)), json));
  return new Command("explain")
    .description("Print what guards mean: attempts and waits at worst, and when they refuse.")
    .addCommand(basketly)
    .addCommand(file);
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const { message } = error as Error;
    throw new SystemError([
      { path: "<path>", value: path, allowed: `a JSON file that can be read (${message})` },
    ]);
  }
}

function print(system: () => SystemFile, json: boolean): void {
  try {
    const explained = explainedSystem(system());
    process.stdout.write(json ? `${JSON.stringify(explained)}\n` : text(explained));
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    console.error(`plimsoll: ${error.message}`);
    process.exitCode = 1;
  }
}

/** Every operation of every edge, and what one action comes to along its way. Fallbacks are named, and not run. */
function explainedSystem(system: SystemFile) {
  const functions = {
    fallbacks: Object.fromEntries(fallbacksOf(system).map((name) => [name, () => undefined])),
  };
  const operations = Object.keys(system.edges).flatMap((edge) => {
    const [from = "", to = ""] = edge.split(" -> ");
    const bound = bindEdge(system, from, to, functions);
    return Object.entries(bound.operations).map(([operation, options]) => ({
      edge,
      operation,
      ...explain(bound.dependency, options),
    }));
  });
  return { operations, paths: attemptsAlong(system, functions) };
}

function fallbacksOf({ edges }: SystemFile): string[] {
  return Object.values(edges).flatMap((edge) =>
    Object.values(edge.operations).flatMap(({ fallback }) => {
      if (fallback === undefined) return [];
      return [typeof fallback === "string" ? fallback : fallback.run];
    }),
  );
}

function text({ operations, paths }: ReturnType<typeof explainedSystem>): string {
  const guards = operations.map(
    ({ edge, operation, sentences }) =>
      `${edge}, ${operation}\n${sentences.map((each) => `  ${each}\n`).join("")}`,
  );
  const rows = paths.map(({ action, at, attempts }) => `  ${action}: up to ${attempts} at ${at}\n`);
  return `${guards.join("\n")}\nAttempts multiply. One action comes to, at worst:\n${rows.join("")}`;
}
