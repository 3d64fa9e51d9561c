// What the page of Redis says, held to the code: its options with their defaults, and what it refuses.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { checkOffline, NO_REPEATS } from "../../src/node/redis/options.ts";
import { optionsIn, plain } from "../lib/options.ts";
import { root } from "../lib/repo.ts";
import { readPage, tableUnder } from "./markdown.ts";

const path = "docs/guide/redis.md";
const page = readPage(path, readFileSync(root + path, "utf8"));

it("has every option with its default and its range", () => {
  const declared = optionsIn(root, "src/node/redis").filter(({ option }) =>
    option.startsWith("OfflineOptions."),
  );
  const table = tableUnder(page, "`OfflineOptions`");
  const said = table.map((row) => `${plain(row.option ?? "")}: ${plain(row.default ?? "")}`);
  expect(said).toEqual(declared.map(({ field, byDefault }) => `${field}: ${byDefault}`));
  for (const [i, { text }] of declared.entries())
    expect(plain(text)).toContain(plain(table[i]?.range ?? "").replace(/, or Infinity$/, ""));
});

it("pins the defaults", () => {
  expect(checkOffline({})).toEqual({ maxWaiting: 1_000, maxWaitMs: 1_000 });
});

it("says what `NO_REPEATS` is", () => {
  const said = Object.entries(NO_REPEATS).map(([key, value]) => `${key}: ${value}`);
  expect(page.text).toContain(`{ ${said.join(", ")} }`);
});
