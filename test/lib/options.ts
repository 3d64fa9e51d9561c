// The options of the sources, read from their interfaces: every `…Options`, every field, and the default it states.
import { readdirSync, readFileSync } from "node:fs";

/** A field of an `…Options` interface. */
export interface Option {
  /** `BudgetOptions.burst`. */
  readonly option: string;
  readonly interface: string;
  readonly field: string;
  readonly optional: boolean;
  /** Its docstring, in one line. */
  readonly text: string;
  /** What follows "Default" in it, without marks; "none" where it states none. */
  readonly byDefault: string;
}

/** All options declared below `folder`. */
export function optionsIn(root: string, folder: string): Option[] {
  return readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.(?:test|type)\.ts$/.test(file))
    .sort()
    .flatMap((file) => optionsOf(readFileSync(`${root}${folder}/${file}`, "utf8")));
}

/** All options declared in a source. */
export function optionsOf(source: string): Option[] {
  return [...source.matchAll(/^export interface (\w+Options)[^{\n]* \{\n([\s\S]*?)^\}/gm)].flatMap(
    ([, name = "", body = ""]) =>
      [...body.matchAll(/^( {2}\/\*\*[\s\S]*?\*\/\n)? {2}(?:readonly )?(\w+)(\??)[:(]/gm)].map(
        ([, comment = "", field = "", mark]) => {
          const text = comment
            .replace(/\/\*\*|\*\/|^\s*\* ?/gm, " ")
            .replace(/\s+/g, " ")
            .trim();
          return {
            option: `${name}.${field}`,
            interface: name,
            field,
            optional: mark === "?",
            text,
            byDefault: defaultIn(text),
          };
        },
      ),
  );
}

/** `Default 0.1 (SRE book: 10 %).` says "0.1". */
function defaultIn(text: string): string {
  const found =
    /(?<!No )\bDefault:? ((?:`[^`]*`|[^`])*?)(?: \(|: |, since |, right |, which |\.(?: |$)|; "none"|$)/.exec(
      text,
    );
  return found === null ? "none" : plain(found[1] ?? "");
}

/** Without the marks of Markdown and the quotes of a word. */
export function plain(text: string): string {
  return text.replace(/[`"]/g, "").trim();
}
