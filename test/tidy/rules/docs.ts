// Every exported name says what it is.
import type { Token } from "../../lib/lexer.ts";
import { isShipped, type SourceFile } from "../../lib/source.ts";
import type { Rule, Violation } from "../rule.ts";

const modifiers = new Set(["export", "default", "declare", "async", "abstract"]);
const keywords = new Set(["function", "class", "interface", "type", "const", "let", "var", "namespace"]);

interface Declaration {
  readonly name: string;
  readonly line: number;
  readonly exported: boolean;
  readonly documented: boolean;
}

/** Whether a doc comment ends on the line above, or the same line; `//` remarks in between do not matter. */
function documentedAt(tokens: readonly Token[], index: number): boolean {
  let line = tokens[index]!.line;
  for (let at = index - 1; at >= 0; at--) {
    const token = tokens[at]!;
    const endLine = token.line + token.text.split("\n").length - 1;
    if (token.kind !== "comment" || endLine < line - 1) return false;
    if (token.text.startsWith("/**")) return true;
    line = token.line;
  }
  return false;
}

/** The words at the top of a file, inside no bracket, that may start a declaration: none that follows a modifier. */
function* topLevel(tokens: readonly Token[]): Generator<number> {
  let depth = 0;
  let modified = false;
  for (const [index, { kind, text }] of tokens.entries()) {
    if (depth === 0 && kind === "word" && !modified) yield index;
    if (kind === "punct" && /^[([{]$/.test(text)) depth++;
    if (kind === "punct" && /^[)\]}]$/.test(text)) depth--;
    if (kind === "template") depth += (text.endsWith("${") ? 1 : 0) - (text.startsWith("}") ? 1 : 0);
    if (kind !== "comment") modified = kind === "word" && modifiers.has(text);
  }
}

const isPunct = (token: Token | undefined, text: string): boolean =>
  token?.kind === "punct" && token.text === text;

/** A declaration that starts here, with its modifiers, if one does. */
function declarationAt(tokens: readonly Token[], start: number): Declaration | undefined {
  let at = start;
  let exported = false;
  let anonymous = false;
  while (modifiers.has(tokens[at]?.text ?? "")) {
    exported ||= tokens[at]!.text === "export";
    anonymous ||= tokens[at]!.text === "default";
    at++;
  }
  const isDeclaration = keywords.has(tokens[at]?.text ?? "");
  if (!isDeclaration && !anonymous) return undefined;
  if (isDeclaration) at++;
  if (isPunct(tokens[at], "*")) at++;
  const name = tokens[at];
  if (isPunct(name, "{") && tokens[at - 1]?.text === "type") return undefined; // export type { … }
  const text = name?.kind === "word" && isDeclaration ? name.text : "default";
  return { name: text, line: tokens[start]!.line, exported, documented: documentedAt(tokens, start) };
}

/** Names handed out by `export { a, b as c };`, with no `from`: they must be documented where they are declared. */
function listed(code: readonly Token[]): string[] {
  return code.flatMap((token, index) => {
    if (token.text !== "export") return [];
    let at = index + 1;
    if (code[at]?.text === "type") at++;
    if (!isPunct(code[at], "{")) return [];
    const end = code.findIndex((other, place) => place > at && isPunct(other, "}"));
    if (code[end + 1]?.text === "from") return [];
    const names = code.slice(at + 1, end);
    return names
      .filter(
        (name, place) =>
          name.kind === "word" &&
          name.text !== "type" &&
          names[place - 1]?.text !== "as" &&
          name.text !== "as",
      )
      .map((name) => name.text);
  });
}

function undocumented({ path, tokens, code }: SourceFile): Violation[] {
  const found = new Map<string, Declaration>();
  for (const index of topLevel(tokens)) {
    const made = declarationAt(tokens, index);
    if (made === undefined) continue;
    // Overloads, and a type with the name of its value, are one name: the first says what it is.
    const first = found.get(made.name);
    if (first === undefined) found.set(made.name, made);
    else if (made.documented || made.exported) {
      found.set(made.name, {
        ...first,
        exported: first.exported || made.exported,
        documented: first.documented || made.documented,
      });
    }
  }
  const handedOut = new Set(listed(code));
  return [...found.values()]
    .filter(({ name, exported, documented }) => (exported || handedOut.has(name)) && !documented)
    .map(({ name, line }) => ({
      path,
      line,
      message: `${name} is exported and says nothing: put a /** … */ directly above it`,
    }));
}

const plant = (text: string, name: string) => ({
  files: { "src/core/a.ts": text },
  says: new RegExp(`^${name} is exported and says nothing`),
});

export const exportsAreDocumented: Rule = {
  name: "every exported name has a docstring",
  check: (files) => files.filter((file) => isShipped(file.path)).flatMap(undocumented),
  planted: [
    plant("export const limit = 1;", "limit"),
    plant("/** The file. */\n\nexport function open(): void {}", "open"),
    plant("// a remark\nexport class Gate {}", "Gate"),
    plant("/** a */\nexport interface A {}\nexport type B = A;", "B"),
    plant("const hidden = 1;\nexport { hidden };", "hidden"),
    plant("/** a */\nexport const a = {\n  b: 1,\n};\nexport abstract class C {}", "C"),
    plant("export default class Entry {}", "Entry"),
    plant("/** a */\nconst a = 1;\nexport default a;", "default"),
    plant("export function* steps(): Generator<void> {}", "steps"),
  ],
  clean: {
    "src/core/a.ts": [
      "/** What it is. */",
      "export const a = 1;",
      "/** What it is. */ export type B = { export: 1; type: 2 };",
      "/** Overloads are one name. */",
      "export function f(x: string): void;",
      "export function f(x: number): void;",
      "export function f(): void {}",
      "/** Before a remark. */",
      "// biome-ignore lint/x: because",
      "export abstract class D { export = 1 }",
      "/** A local name. */",
      "const local = 1;",
      "const inner = 2;",
      "export { local, local as other };",
      'export { elsewhere } from "./b.ts";',
      'export * from "./c.ts";',
      'export type { T } from "./d.ts";',
    ].join("\n"),
    "src/core/a.test.ts": "export const helper = 1;",
  },
};
