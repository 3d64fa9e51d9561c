// A small lexer for TypeScript: enough to tell code from comments, strings, templates and regular expressions.
// TypeScript 7 has no compiler API in JavaScript, and the tools built on the old one see nothing here and pass.

export type TokenKind = "word" | "number" | "string" | "template" | "regex" | "punct" | "comment";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Where it starts and ends in the text. */
  readonly start: number;
  readonly end: number;
  /** The line it starts on, from 1. */
  readonly line: number;
}

const space = /\s+/y;
const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const string = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y;
const number = /0[xXbBoO][\da-fA-F_]+n?|(?:\d[\d_]*(?:\.\d[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?n?/y;
const word = /[#@]?[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const regex = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** From a backtick, or from the brace that ends an inserted expression, to the next of either. */
const template = /[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y;
const punct = /\.\.\.|\*\*=?|=>|[=!]==?|&&=?|\|\|=?|\?\?=?|\?\.(?!\d)|\+\+|--|[-+*/%&|^]=|[\s\S]/y;

const regexMayFollow = new Set(
  "return typeof case in of do else void delete throw new instanceof yield await default".split(" "),
);

/** A slash after a value divides; anywhere else it opens a regular expression. */
function opensRegex(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "word") return regexMayFollow.has(before.text);
  return before.kind === "punct" && !/^[)\]}]$/.test(before.text);
}

/** The tokens of a text, comments included, white space left out. */
export function lex(text: string): Token[] {
  const tokens: Token[] = [];
  const braces: ("brace" | "template")[] = [];
  let before: Token | undefined;
  let at = 0;
  let line = 1;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const next = (): [TokenKind, string] => {
    const char = text[at];
    let found = match(comment);
    if (found !== undefined) return ["comment", found];
    found = match(string);
    if (found !== undefined) return ["string", found];
    found = match(number);
    if (found !== undefined) return ["number", found];
    found = match(word);
    if (found !== undefined) return ["word", found];
    if (char === "`" || (char === "}" && braces.at(-1) === "template")) {
      found = match(template);
      if (found !== undefined) return ["template", found];
    }
    found = char === "/" && opensRegex(before) ? match(regex) : undefined;
    return found === undefined ? ["punct", match(punct) ?? ""] : ["regex", found];
  };
  const nest = (kind: TokenKind, found: string): void => {
    if (kind === "template") {
      if (found.startsWith("}")) braces.pop();
      if (found.endsWith("${")) braces.push("template");
    } else if (kind === "punct" && found === "{") braces.push("brace");
    else if (kind === "punct" && found === "}") braces.pop();
  };

  while (at < text.length) {
    const gap = match(space);
    const [kind, found] = gap === undefined ? next() : ["space" as const, gap];
    if (kind !== "space") {
      const token: Token = { kind, text: found, start: at, end: at + found.length, line };
      tokens.push(token);
      if (kind !== "comment") before = token;
      nest(kind, found);
    }
    at += found.length;
    for (const char of found) if (char === "\n") line++;
  }
  return tokens;
}

const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

/** For each opening bracket, by its index among `code`, the index of the bracket that closes it. */
export function brackets(code: readonly Token[]): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  code.forEach((token, index) => {
    if (token.kind !== "punct") return;
    if (token.text in closing) open.push(index);
    const last = open.at(-1);
    if (last !== undefined && closing[code[last]!.text] === token.text) pairs.set(open.pop()!, index);
  });
  return pairs;
}
