// A default is a promise: `table.ts` says each one, and this holds the code, and its docstrings, to it.
import { expect, it } from "vitest";
import { optionsIn, optionsOf } from "../lib/options.ts";
import { root } from "../lib/repo.ts";
import { DEFAULTS } from "./table.ts";

it.each(DEFAULTS)("$option: $docs", ({ is, shown }) => {
  expect(shown()).toEqual(is);
});

/** What a stack cannot be made without; the compiler alone asks for it. */
const MUST_BE_GIVEN = ["runtime", "dependency", "operation", "perform"].map(
  (field) => `StackOptions.${field}`,
);

/** What a call says about itself has a row only where something holds if it says nothing. */
const ofCalls = optionsIn(root, "src/facade").filter(({ byDefault }) => byDefault !== "none");

const declared = [...optionsIn(root, "src/core"), ...optionsIn(root, "src/testing"), ...ofCalls].filter(
  ({ option }) => !MUST_BE_GIVEN.includes(option),
);

it("has one row for every option, with the default that its docstring states", () => {
  const stated = declared.map(({ option, byDefault }) => `${option}: ${byDefault}`);
  const rows = DEFAULTS.map(({ option, docs }) => `${option}: ${docs}`);
  expect(rows.toSorted()).toEqual(stated.toSorted());
});

it("reads docstrings to the end of the default", () => {
  const source = `
/** Options of a thing. */
export interface ThingOptions extends Base {
  /** A size, 0.5 at least. Default 0.1 (a book: 10 %). Per process. */
  readonly size?: number;
  /**
   * What is kept, in
   * short. Default \`{ calls: 100 }\` (a library).
   */
  readonly kept?: { readonly calls: number };
  /** No default: it must be measured. */
  readonly limit: number;
  run(): void;
}
`;
  expect(optionsOf(source).map(({ option, optional, byDefault }) => [option, optional, byDefault])).toEqual([
    ["ThingOptions.size", true, "0.1"],
    ["ThingOptions.kept", true, "{ calls: 100 }"],
    ["ThingOptions.limit", false, "none"],
    ["ThingOptions.run", false, "none"],
  ]);
});
