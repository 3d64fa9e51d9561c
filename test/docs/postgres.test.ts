// What the page of PostgreSQL says, held to the code: its options, and every SQLSTATE of its table.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { settingsOf } from "../../src/node/pg/options.ts";
import { SQLSTATES } from "../../src/node/pg/sqlstate.ts";
import { optionsIn, plain } from "../lib/options.ts";
import { root } from "../lib/repo.ts";
import { readPage, tableUnder } from "./markdown.ts";
import { endsOf } from "./ranges.ts";

const path = "docs/guide/postgres.md";
const page = readPage(path, readFileSync(root + path, "utf8"));
const table = tableUnder(page, "`GuardedPoolOptions`");
const declared = optionsIn(root, "src/node/pg").filter(({ option }) =>
  option.startsWith("GuardedPoolOptions."),
);

it("has every option with its default, and its docstring has its range", () => {
  const said = table.map((row) => `${plain(row.option ?? "")}: ${plain(row.default ?? "")}`);
  expect(said).toEqual(declared.map(({ field, byDefault }) => `${field}: ${byDefault}`));
  for (const { field, text } of declared) {
    const range = plain(table.find((row) => plain(row.option ?? "") === field)?.range ?? "");
    if (endsOf(range) !== null) expect(plain(text), field).toContain(range.replace(/, or Infinity$/, ""));
  }
});

it("states the ranges that the code has, to the ends", () => {
  const takes = (field: string, value: number): boolean => {
    try {
      settingsOf({ name: "db", connection: {}, size: 1, [field]: value });
      return true;
    } catch {
      return false;
    }
  };
  for (const row of table) {
    const ends = endsOf(plain(row.range ?? ""));
    const field = plain(row.option ?? "");
    for (const value of ends?.accepted ?? []) expect(takes(field, value), `${field}: ${value}`).toBe(true);
    for (const value of ends?.refused ?? []) expect(takes(field, value), `${field}: ${value}`).toBe(false);
  }
});

it("pins the defaults", () => {
  expect(settingsOf({ name: "db", connection: {}, size: 3 })).toEqual({
    connection: {},
    size: 3,
    connectTimeoutMs: 5_000,
    idleTimeoutMs: 10_000,
    marginMs: 1,
    lockTimeoutMs: Infinity,
    cancelTimeoutMs: 1_000,
  });
});

it("speaks of every SQLSTATE that the code knows", () => {
  const said = tableUnder(page, "What it does")
    .map((row) => Object.values(row).join(" "))
    .join(" ");
  const unsaid = Object.keys(SQLSTATES).filter((code) => !new RegExp(`\\b${code}\\b`).test(said));
  expect(unsaid).toEqual([]);
});
