// The laws of the house as data. The rules in rules/ read nothing else; change a law here, and say why in the commit.

/** A folder of `src`: the folders whose code it may import, besides itself, and the packages. */
export interface Ring {
  readonly takes: readonly string[];
  readonly packages?: readonly (string | RegExp)[];
}

/**
 * Who may import whom, by folder of `src`; the longest folder that holds a file decides for it. What is not
 * listed may not be imported: so `sim` and `node` never meet.
 */
export const rings: Readonly<Record<string, Ring>> = {
  "": { takes: ["core", "facade", "system", "analysis", "testing", "sim"] },
  core: { takes: [] },
  facade: { takes: ["core"] },
  system: { takes: ["core"], packages: ["zod"] },
  analysis: { takes: ["core", "system"] },
  testing: { takes: ["core"] },
  sim: { takes: ["core", "system", "testing"] },
  node: { takes: ["core", "facade", "system"], packages: [/./] },
  "node/testing": { takes: ["core", "facade", "system", "testing", "node"], packages: [/./] },
  "index.node.ts": { takes: ["", "core", "facade", "node"] },
};

/** What the page may import of the library: all that runs in a browser. */
export const pageTakes: readonly string[] = [
  "plimsoll",
  "plimsoll/core",
  "plimsoll/system",
  "plimsoll/analysis",
  "plimsoll/testing",
  "plimsoll/sim",
];

/** The rings that must run the same under every clock, in every engine. */
export const deterministic: readonly string[] = ["core", "testing", "sim"];

const clock = "time comes from `runtime.now()`";
const timer = "waiting is `runtime.after(ms, fn)`, or an operation that the driver performs";
const promise = "work is a fiber that the driver runs; promises live in the facade and in node adapters";
const outside = "what the outside knows arrives in options or through the runtime";

/** Names that a deterministic ring may not use, and what stands in for each. */
export const bannedNames: Readonly<Record<string, string>> = {
  Date: clock,
  performance: clock,
  setTimeout: timer,
  setInterval: timer,
  setImmediate: timer,
  clearTimeout: timer,
  clearInterval: timer,
  queueMicrotask: timer,
  Promise: promise,
  async: promise,
  await: promise,
  process: outside,
  globalThis: outside,
  console: "what happened is an event: `runtime.emit(event)`",
  Intl: "numbers and dates are formatted by whoever prints them",
};

/** Methods that read the language of the machine. */
export const bannedMethods: Readonly<Record<string, string>> = {
  toLocaleString: "numbers and dates are formatted by whoever prints them",
  localeCompare: "compare with `<`: the order must not depend on the machine's language",
};

/** What `Math` may be asked for: exact in every engine. */
export const exactMath: readonly string[] =
  "abs ceil clz32 floor fround imul max min round sign sqrt trunc E LN2 LN10 LOG2E LOG10E PI SQRT2".split(
    " ",
  );

export const mathInstead: Readonly<Record<string, string>> = {
  random: "randomness is `runtime.random()`, or a stream forked from it by name",
  "": "engines may differ in the last bit: use the project's own version, built from exact operations",
};

/** Lines of a file, and of a function from its name to its closing brace. */
export const limits = { fileLines: 300, functionLines: 49 } as const;
