// Files and functions that can be read at one sitting.
import { brackets, type Token } from "../../lib/lexer.ts";
import { isShipped } from "../../lib/source.ts";
import { limits } from "../house.ts";
import type { Rule } from "../rule.ts";

interface Span {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

const heads = new Set(["if", "for", "while", "switch", "catch", "with", "await"]);

/** The index of the brace that opens a body after the parameters, past a return type if there is one. */
function bodyAfter(
  code: readonly Token[],
  pairs: ReadonlyMap<number, number>,
  params: number,
): number | undefined {
  let at = params + 1;
  if (code[at]?.text === "{") return at;
  if (code[at]?.text !== ":") return undefined;
  let angles = 0;
  for (at++; at < code.length; at++) {
    const { text } = code[at]!;
    if (/^[;=)\]}]$/.test(text) || (text === "," && angles === 0)) return undefined;
    if (text === "<") angles++;
    if (text === ">") angles--;
    const inType = angles > 0 || /^(?:[:|&]|=>|is|extends|keyof)$/.test(code[at - 1]!.text);
    if (text === "{" && !inType) return at;
    if (!pairs.has(at)) continue;
    at = pairs.get(at)!;
    const goesOn = angles > 0 || /^[|&[{]$/.test(code[at + 1]?.text ?? "");
    if (text === "{" && !goesOn) return undefined;
  }
  return undefined;
}

/** The functions, methods and block-bodied arrows of a file. */
function functionsOf(code: readonly Token[]): Span[] {
  const pairs = brackets(code);
  const found: Span[] = [];
  const add = (from: number, body: number | undefined, name: string): void => {
    const close = body === undefined ? undefined : pairs.get(body);
    if (close === undefined) return;
    const { line } = code[from]!;
    found.push({ name, line, lines: code[close]!.line - line + 1 });
  };
  code.forEach(({ kind, text }, index) => {
    if (kind !== "punct") return;
    const before = code[index - 1];
    if (text === "=>") add(index, code[index + 1]?.text === "{" ? index + 1 : undefined, "an arrow function");
    if (text !== "(" || before === undefined || heads.has(before.text)) return;
    const close = pairs.get(index);
    if (close !== undefined) add(index - 1, bodyAfter(code, pairs, close), before.text);
  });
  return found;
}

const lineCount = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

export const sizes: Rule = {
  name: `files of at most ${limits.fileLines} lines, functions of at most ${limits.functionLines}`,
  check: (files) =>
    files
      .filter((file) => isShipped(file.path))
      .flatMap(({ path, text, code }) => {
        const lines = lineCount(text);
        const long = functionsOf(code).filter((span) => span.lines > limits.functionLines);
        return [
          ...(lines > limits.fileLines
            ? [
                {
                  path,
                  line: 1,
                  message: `${lines} lines (at most ${limits.fileLines}): look for the missing idea`,
                },
              ]
            : []),
          ...long.map(({ name, line, lines }) => ({
            path,
            line,
            message: `${name} has ${lines} lines (at most ${limits.functionLines}): name its steps`,
          })),
        ];
      }),
  planted: [
    { files: { "src/core/a.ts": "x;\n".repeat(301) }, says: /301 lines/ },
    ...[
      (body: string) => `function long(a: number): number {${body}}`,
      (body: string) => `class A {\n  long<T>(a: T): { a: T } | undefined {${body}}\n}`,
      (body: string) => `class A {\n  *long(): Generator<{ a: 1 }, void> {${body}}\n}`,
      (body: string) => `class A {\n  constructor() {${body}}\n}`,
      (body: string) => `const long = (a: number): void => {${body}};`,
      (body: string) => `function long(a: unknown): a is { b: 1 } {${body}}`,
    ].map((shape) => ({
      files: { "src/core/a.ts": shape("\n  x;".repeat(60)) },
      says: /6\d lines \(at most/,
    })),
  ],
  clean: {
    "src/core/short.ts": "x;\n".repeat(300),
    "src/core/a.ts": `function near(): void {${"\n  x;".repeat(47)}\n}`,
    "src/core/b.ts": `if (a) {${"\n  x;".repeat(80)}\n}\nfor (const b of c) {${"\n  x;".repeat(80)}\n}`,
    "src/core/c.ts": `switch (a) {\n  case f(x): {${"\n  x;".repeat(80)}\n  }\n}`,
    "src/core/d.ts": `interface Wide {${"\n  x(): void;".repeat(80)}\n}`,
    "src/core/a.test.ts": `describe("a", () => {${"\n  x;".repeat(400)}\n});`,
  },
};
