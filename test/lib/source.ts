// What the rules see of a file: its path, its text and, for code, its tokens and imports.
import { posix } from "node:path";
import { lex, type Token } from "./lexer.ts";

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Whether it hands the names on: `export … from`. */
  readonly passesOn: boolean;
}

export interface SourceFile {
  /** From the root of the repo, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Every token, comments included. Empty when the file is not TypeScript or JavaScript. */
  readonly tokens: readonly Token[];
  /** The tokens without the comments. */
  readonly code: readonly Token[];
  readonly imports: readonly Import[];
}

/** A file, read lazily: only the rules that look at code pay for lexing it. */
export function sourceFile(path: string, text: string): SourceFile {
  const isCode = /\.(?:ts|tsx|mts|js|mjs)$/.test(path);
  let tokens: Token[] | undefined;
  let code: Token[] | undefined;
  let imports: Import[] | undefined;
  return {
    path,
    text,
    get tokens() {
      tokens ??= isCode ? lex(text) : [];
      return tokens;
    },
    get code() {
      code ??= this.tokens.filter((token) => token.kind !== "comment");
      return code;
    },
    get imports() {
      imports ??= importsOf(this.code);
      return imports;
    },
  };
}

/** `import "x"`, `import … from "x"`, `export … from "x"`, `import("x")`, and `import("x")` as a type. */
function importsOf(code: readonly Token[]): Import[] {
  const found: Import[] = [];
  let passesOn = false;
  code.forEach((token, index) => {
    if (token.kind === "word" && (token.text === "import" || token.text === "export")) {
      passesOn = token.text === "export";
    }
    if (token.kind !== "string") return;
    const before = code[index - 1]?.text;
    const called = before === "(" && code[index - 2]?.text === "import";
    if (before !== "from" && before !== "import" && !called) return;
    found.push({ specifier: token.text.slice(1, -1), line: token.line, passesOn: passesOn && !called });
  });
  return found;
}

/** The path that a relative specifier names, or nothing when it names a package. */
export function resolve(from: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(from), specifier) : undefined;
}

/** Tests, type tests and benchmarks: they stand beside the code, and the rules for code that ships are not theirs. */
export function isTest(path: string): boolean {
  return /\.(?:test|type|bench)\.tsx?$/.test(path);
}

/** Code that ships, below one of the folders of `src`. */
export function isShipped(path: string): boolean {
  return path.startsWith("src/") && path.endsWith(".ts") && !path.endsWith(".d.ts") && !isTest(path);
}
