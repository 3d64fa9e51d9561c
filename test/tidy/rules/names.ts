// What a deterministic ring may not name: clocks, timers, chance, promises, the platform, inexact arithmetic.
import type { Token } from "../../lib/lexer.ts";
import { isShipped } from "../../lib/source.ts";
import { bannedMethods, bannedNames, deterministic, exactMath, mathInstead } from "../house.ts";
import type { Rule } from "../rule.ts";

const own = (table: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** `{ process: …` or `; process?: …` names a field, not the global. */
function isKey(code: readonly Token[], index: number): boolean {
  const after = code[index + 1]?.text;
  const colon = after === ":" || (after === "?" && code[index + 2]?.text === ":");
  return colon && /^(?:[{,;]|readonly)$/.test(code[index - 1]?.text ?? "");
}

function mathBreach(code: readonly Token[], index: number): string | undefined {
  if (code[index + 1]?.text !== ".")
    return "Math may only be used as `Math.name`, so that the name can be checked";
  const name = code[index + 2]?.text ?? "";
  if (exactMath.includes(name)) return undefined;
  return `Math.${name}: ${own(mathInstead, name) ?? mathInstead[""]}`;
}

function breach(code: readonly Token[], index: number): string | undefined {
  const { kind, text } = code[index]!;
  if (kind === "punct" && text.startsWith("**")) return `${text}: ${mathInstead[""]}`;
  if (kind !== "word") return undefined;
  const before = code[index - 1]?.text;
  if (before === "." || before === "?.") {
    const instead = own(bannedMethods, text);
    return instead === undefined ? undefined : `.${text}: ${instead}`;
  }
  if (text === "Math") return mathBreach(code, index);
  const instead = own(bannedNames, text);
  return instead === undefined || isKey(code, index) ? undefined : `${text}: ${instead}`;
}

const plant = (text: string, says: RegExp, ring = "core") => ({
  files: { [`src/${ring}/a.ts`]: text },
  says,
});

export const bannedInDeterministicRings: Rule = {
  name: "no clock, timer, chance, promise, platform or inexact arithmetic where replays must agree",
  check: (files) =>
    files
      .filter((file) => isShipped(file.path) && deterministic.includes(file.path.split("/")[1]!))
      .flatMap((file) =>
        file.code.flatMap(({ line }, index) => {
          const message = breach(file.code, index);
          return message === undefined ? [] : [{ path: file.path, line, message }];
        }),
      ),
  planted: [
    ...Object.keys(bannedNames).map((name) => plant(`const x = [${name}];`, new RegExp(`^${name}: `))),
    ..."log log2 log10 log1p exp expm1 pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh cbrt hypot random"
      .split(" ")
      .map((name) => plant(`const x = Math.${name}(1);`, new RegExp(`^Math\\.${name}: `))),
    plant("const x = 2 ** 3;", /^\*\*: engines/),
    plant("x **= 3;", /^\*\*=: engines/),
    plant("const { exp } = Math;", /^Math may only/),
    plant('const x = Math["exp"](1);', /^Math may only/),
    plant("const x = a.localeCompare(b);", /^\.localeCompare: compare with/),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    plant("const text = `at ${Date.now()}`;", /^Date: /),
    plant("const half = a / 2; const x = Date; const y = b / 2;", /^Date: /),
    plant("const f = async () => 1;", /^async: /, "testing"),
    plant("const x: Promise<void> | undefined = undefined;", /^Promise: /, "sim"),
  ],
  clean: {
    "src/core/a.ts": [
      "// Date.now() and Math.random() in a comment",
      "/** `await` a Promise with setTimeout: 2 ** 3 */",
      "const text = \"Date\" + 'process' + `console await`;",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
      'const more = `${"Intl"} console`;',
      "const pattern = /Date|Math.random\\//;",
      "const exact = Math.sqrt(Math.max(1, Math.floor(x))) * Math.PI;",
      "interface Shape { readonly process: string; performance?: number }",
      "const shape = { process: text, performance: 1 };",
      "shape.process.trim(); this.async?.await;",
      "class Dates { promise = 1; processed = 2 }",
    ].join("\n"),
    "src/core/a.test.ts": "await Promise.resolve(Date.now());",
    "src/core/a.bench.ts": "performance.now();",
    "src/facade/a.ts": "export const f = async () => await Promise.resolve(1);",
    "src/node/a.ts": "setTimeout(() => process.exit(), Date.now());",
  },
};
