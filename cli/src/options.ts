/** `plimsoll options`: every option of the library, with its default and where that comes from. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command } from "commander";

/** An option, as the library's reference has it. */
interface Option {
  readonly options: string;
  readonly field: string;
  readonly optional: boolean;
  readonly byDefault: string;
  readonly from: string;
  readonly about: string;
}

/** The command `options`. */
export function optionsCommand(): Command {
  return new Command("options")
    .description(
      "Every option of the library: what it means, its range, its default and where that comes from.",
    )
    .argument("[words...]", "only options with all of these words in their name or text")
    .option("--json", "as JSON")
    .option("--markdown", "as a page of tables")
    .action((words: string[], { json = false, markdown = false }: { json?: boolean; markdown?: boolean }) => {
      const path = fileURLToPath(import.meta.resolve("plimsoll/reference.json"));
      const all = JSON.parse(readFileSync(path, "utf8")) as Option[];
      const found = all.filter((option) => words.every((word) => says(option, word.toLowerCase())));
      if (found.length === 0) {
        console.error(`No option says ${words.map((word) => JSON.stringify(word)).join(" and ")}.`);
        process.exitCode = 1;
      } else if (json) console.log(JSON.stringify(found, null, 2));
      else console.log(markdown ? page(found) : found.map(lines).join("\n\n"));
    });
}

function says({ options, field, about }: Option, word: string): boolean {
  return `${options}.${field} ${about}`.toLowerCase().includes(word);
}

function lines({ options, field, byDefault, about }: Option): string {
  return `${options}.${field}  (default: ${byDefault})\n  ${about}`;
}

/** A table for each set of options. */
function page(options: readonly Option[]): string {
  const sets = new Map<string, Option[]>();
  for (const option of options) sets.set(option.options, [...(sets.get(option.options) ?? []), option]);
  const tables = [...sets].sort().map(([name, fields]) => {
    const rows = fields.map(
      ({ field, byDefault, from, about }) =>
        `| \`${field}\` | ${cell(byDefault)} | ${cell(from)} | ${cell(about)} |`,
    );
    return `## ${name}\n\n| option | default | from | about |\n|---|---|---|---|\n${rows.join("\n")}\n`;
  });
  return `# Options\n\n${tables.join("\n")}`;
}

function cell(text: string): string {
  return text === "" ? "–" : text.replaceAll("|", "\\|");
}
