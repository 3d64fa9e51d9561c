// The options of the sources, read from their interfaces: every `…Options`, every field, and the default it states. The
// docstrings are the only place where they stand; the reference is made from them, and the tests hold the pages to them.
import { readdirSync, readFileSync } from "node:fs";

/**
 * A field of an `…Options` interface.
 * @typedef {object} Option
 * @property {string} option `BudgetOptions.burst`.
 * @property {string} interface
 * @property {string} field
 * @property {boolean} optional
 * @property {string} text Its docstring, in one line.
 * @property {string} byDefault What follows "Default" in it, without marks; "none" where it states none.
 * @property {string} from Where the default comes from; empty where nothing is said.
 */

/**
 * All options declared below `folder`.
 * @param {string} root
 * @param {string} folder
 * @returns {Option[]}
 */
export function optionsIn(root, folder) {
  return readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.(?:test|type)\.ts$/.test(file))
    .sort()
    .flatMap((file) => optionsOf(readFileSync(`${root}${folder}/${file}`, "utf8")));
}

/**
 * All options declared in a source.
 * @param {string} source
 * @returns {Option[]}
 */
export function optionsOf(source) {
  return [...source.matchAll(/^export interface (\w+Options)[^{\n]* \{\n([\s\S]*?)^\}/gm)].flatMap(
    ([, name = "", body = ""]) =>
      [...body.matchAll(/^( {2}\/\*\*[\s\S]*?\*\/\n)? {2}(?:readonly )?(\w+)(\??)[:(]/gm)].map(
        ([, comment = "", field = "", mark]) => {
          const text = comment
            .replace(/\/\*\*|\*\//g, " ")
            .replace(/^\s*\* ?/gm, " ")
            .replace(/\s+/g, " ")
            .trim();
          return {
            option: `${name}.${field}`,
            interface: name,
            field,
            optional: mark === "?",
            text,
            byDefault: defaultIn(text),
            from: sourceIn(text),
          };
        },
      ),
  );
}

const DEFAULT =
  /(?<!No )\bDefault:? ((?:`[^`]*`|[^`])*?)(?: \(|: |, since |, right |, which |\.(?: |$)|; "none"|$)/;

/**
 * `Default 0.1 (SRE book: 10 %).` says "0.1".
 * @param {string} text
 */
function defaultIn(text) {
  return plain(DEFAULT.exec(text)?.[1] ?? "none");
}

/**
 * `Default 0.1 (SRE book: 10 %).` says "SRE book: 10 %"; `No default: it must be measured.` says "it must be measured".
 * @param {string} text
 */
function sourceIn(text) {
  const measured = /\bNo default: ([^.]*)/.exec(text)?.[1];
  const found = DEFAULT.exec(text);
  if (found === null || measured !== undefined) return measured ?? "";
  const after = text.slice(found.index + found[0].length);
  if (found[0].endsWith(" (")) return /^(?:[^()]|\([^()]*\))*/.exec(after)?.[0] ?? "";
  return /: $/.test(found[0]) ? (/^[^.]*/.exec(after)?.[0] ?? "") : "";
}

/**
 * Without the marks of Markdown and the quotes of a word.
 * @param {string} text
 */
export function plain(text) {
  return text.replace(/[`"]/g, "").trim();
}

/**
 * What a reader of the reference wants: every option of every part, the one that declares it named.
 * @param {string} root
 */
export function reference(root) {
  return ["src/core", "src/facade", "src/node", "src/sim", "src/system", "src/testing"].flatMap((part) =>
    optionsIn(root, part).map(({ interface: of, field, optional, byDefault, from, text }) => ({
      options: of,
      field,
      optional,
      byDefault,
      from,
      about: text,
    })),
  );
}
