// The public surface of an entry, read from the declarations that the build wrote.
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { lex, type Token } from "../lib/lexer.ts";

/** A name, and the text of each declaration behind it (an overload, or a type with the name of its value). */
type Surface = Map<string, string[]>;

type Read = (path: string) => string;

const keywords = new Set([
  "function",
  "class",
  "interface",
  "type",
  "const",
  "let",
  "var",
  "namespace",
  "enum",
]);
const modifiers = new Set(["export", "declare", "default", "abstract", "async"]);

const isPunct = (token: Token | undefined, text: string): boolean =>
  token?.kind === "punct" && token.text === text;

/** Cuts the tokens of a file into its top statements: each ends with a semicolon or a block at the top. */
function statements(tokens: readonly Token[]): Token[][] {
  const found: Token[][] = [];
  let statement: Token[] = [];
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    statement.push(token);
    if (token.kind !== "punct") continue;
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text)) depth--;
    const block = token.text === "}" && startsStatement(tokens[index + 1]) && !isClause(statement);
    if (depth > 0 || (token.text !== ";" && !block)) continue;
    found.push(statement);
    statement = [];
  }
  return statement.length > 0 ? [...found, statement] : found;
}

const startsStatement = (token: Token | undefined): boolean =>
  token === undefined || modifiers.has(token.text) || keywords.has(token.text) || token.text === "import";

/** `export { … }` and `import { … }` go on after the brace. */
const isClause = ([first, second, third]: readonly Token[]): boolean =>
  (first?.text === "import" || first?.text === "export") &&
  (isPunct(second, "{") || (second?.text === "type" && isPunct(third, "{")));

interface Statement {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly exported: boolean;
  /** The name it declares, if it declares one. */
  readonly name: string | undefined;
  /** `from "…"`, as a path. */
  readonly from: string | undefined;
}

/** The text of a statement as it was printed, without comments and empty lines. */
function printed(source: string, tokens: readonly Token[]): string {
  let text = "";
  let at = tokens[0]!.start;
  for (const token of tokens) {
    // Between two tokens stand white space and comments; of these only the breaks and the indent are kept.
    const gap = source.slice(at, token.start).replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
    text += gap.replace(/\n\s*\n/g, "\n") + token.text;
    at = token.end;
  }
  return text.replace(/[ \t]+$/gm, "").replace(/\n{2,}/g, "\n");
}

function read(path: string, source: string): Statement[] {
  const code = lex(source).filter((token) => token.kind !== "comment");
  return statements(code).map((tokens) => {
    let at = 0;
    while (modifiers.has(tokens[at]?.text ?? "")) at++;
    const declares = keywords.has(tokens[at]?.text ?? "") && !isPunct(tokens[at + 1], "{");
    const place = tokens.findIndex(
      (token, index) => token.text === "from" && tokens[index + 1]?.kind === "string",
    );
    const specifier = place < 0 || declares ? undefined : tokens[place + 1]!.text.slice(1, -1);
    return {
      text: printed(source, tokens),
      tokens,
      exported: tokens[0]?.text === "export",
      name: declares
        ? tokens[0]?.text === "export" && tokens[1]?.text === "default"
          ? "default"
          : tokens[at + 1]!.text
        : undefined,
      from: specifier === undefined ? undefined : target(path, specifier),
    };
  });
}

/** Declarations name each other as `./x.ts` or `./x.js`; either is the file x.d.ts. A package stays its name. */
const target = (from: string, specifier: string): string =>
  specifier.startsWith(".")
    ? posix.join(posix.dirname(from), specifier.replace(/\.[jt]s$/, ".d.ts"))
    : specifier;

/** `{ a, type b as c }` as pairs of the inner and the outer name. */
function pairsOf(tokens: readonly Token[]): [inner: string, outer: string][] {
  const open = tokens.findIndex((token) => isPunct(token, "{"));
  const close = tokens.findIndex((token) => isPunct(token, "}"));
  const list: [string, string][] = [];
  let words: string[] = [];
  for (const token of tokens.slice(open + 1, close + 1)) {
    if (token.kind === "word") words.push(token.text);
    else if (words.length > 0) {
      const names = words[0] === "type" && words.length > 1 && words[1] !== "as" ? words.slice(1) : words;
      list.push([names[0]!, names.at(-1)!]);
      words = [];
    }
  }
  return list;
}

/** Everything that a declaration file exports, by name, through whatever it hands on. */
export function surfaceOf(path: string, readText: Read, seen: ReadonlySet<string> = new Set()): Surface {
  if (seen.has(path)) return new Map();
  const follow = (other: string): Surface => surfaceOf(other, readText, new Set([...seen, path]));
  const all = read(path, readText(path));
  const surface: Surface = new Map();
  const add = (name: string, texts: readonly string[]): void => {
    surface.set(name, [...(surface.get(name) ?? []), ...texts]);
  };
  const local = (name: string): string[] => {
    const own = all.filter((statement) => statement.name === name).map((statement) => statement.text);
    if (own.length > 0) return own;
    for (const { tokens, from } of all) {
      if (tokens[0]?.text !== "import" || from === undefined) continue;
      const pair = pairsOf(tokens).find(([, outer]) => outer === name);
      if (pair !== undefined) return named(from, pair[0]);
    }
    throw new Error(`${path} exports ${name}, and does not say what it is`);
  };
  const named = (from: string, name: string): string[] => {
    if (!from.endsWith(".d.ts")) return [`from "${from}": ${name}`];
    const texts = follow(from).get(name);
    if (texts === undefined) throw new Error(`${path} takes ${name} from ${from}, which does not export it`);
    return texts;
  };

  for (const { tokens, text, exported, name, from } of all) {
    if (!exported) continue;
    const star = tokens.findIndex((token) => isPunct(token, "*"));
    if (name !== undefined) add(name, [text]);
    else if (from !== undefined && star > 0 && star < 3) {
      if (tokens[star + 1]?.text === "as") add(tokens[star + 2]!.text, [text]);
      else for (const [other, texts] of follow(from)) if (!surface.has(other)) add(other, texts);
    } else if (from !== undefined)
      for (const [inner, outer] of pairsOf(tokens)) add(outer, named(from, inner));
    else if (tokens[1]?.text === "default") add("default", [text]);
    else for (const [inner, outer] of pairsOf(tokens)) add(outer, local(inner));
  }
  return surface;
}

/** The surface as a page to review: names in order, each with its declarations. */
export function render(surface: Surface): string {
  const names = [...surface.keys()].sort();
  return names.map((name) => `## ${name}\n${surface.get(name)!.join("\n")}\n`).join("\n");
}

/** Reads from the root of the repo. */
export const readFrom =
  (root: string): Read =>
  (path) =>
    readFileSync(root + path, "utf8");
