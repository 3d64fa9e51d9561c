import { describe, expect, it } from "vitest";
import { brackets, lex } from "./lexer.ts";
import { readRepo } from "./repo.ts";

const kinds = (text: string): string[] => lex(text).map((token) => `${token.kind} ${token.text}`);

describe("lex", () => {
  it.each([
    ["a / b / c", ["word a", "punct /", "word b", "punct /", "word c"]],
    ["(a) / b / c", ["punct (", "word a", "punct )", "punct /", "word b", "punct /", "word c"]],
    [
      "return /[/\"']/g.test(x)",
      ["word return", "regex /[/\"']/g", "punct .", "word test", "punct (", "word x", "punct )"],
    ],
    ["f(/\\//)", ["word f", "punct (", "regex /\\//", "punct )"]],
    ["'it\\'s' \"//\"", ["string 'it\\'s'", 'string "//"']],
    ["a ** b **= c", ["word a", "punct **", "word b", "punct **=", "word c"]],
    ["/** b */ a // c", ["comment /** b */", "word a", "comment // c"]],
    ["1_000.5e3 0xffn .5 #a", ["number 1_000.5e3", "number 0xffn", "number .5", "word #a"]],
    [
      "a?.b ?? c ? .5 : d",
      ["word a", "punct ?.", "word b", "punct ??", "word c", "punct ?", "number .5", "punct :", "word d"],
    ],
  ])("%s", (text, expected) => {
    expect(kinds(text)).toEqual(expected);
  });

  it("sees the code inside a template, and only that", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    const text = "`a ${ {b: `c ${d}`} } } e` + f";
    const words = lex(text).filter((token) => token.kind === "word");
    expect(words.map((token) => token.text)).toEqual(["b", "d", "f"]);
  });

  it("counts lines through comments, strings and templates", () => {
    const text = "/*\n\n*/ a `\n` b";
    expect(lex(text).map((token) => [token.text[0], token.line])).toEqual([
      ["/", 1],
      ["a", 3],
      ["`", 3],
      ["b", 4],
    ]);
  });

  it("loses no character and no bracket of any file here", () => {
    const files = readRepo().filter((file) => file.tokens.length > 0);
    expect(files.length).toBeGreaterThan(10);
    for (const { path, text, tokens, code } of files) {
      const solid = (part: string): string => part.replace(/\s+/g, "");
      expect(solid(tokens.map((token) => token.text).join("")), path).toBe(solid(text));
      const opening = code.filter((token) => token.kind === "punct" && /^[([{]$/.test(token.text));
      expect(brackets(code).size, path).toBe(opening.length);
    }
  });
});
