// The architecture of the repo, checked on its text. Each rule first proves that it can see.
import { describe, expect, it } from "vitest";
import { entries } from "../../scripts/lib/entries.mjs";
import { readRepo } from "../lib/repo.ts";
import { filesOf, type Rule, type Violation } from "./rule.ts";
import { exportsAreDocumented } from "./rules/docs.ts";
import { guardsApart, importsNameFiles, packagesApart, whoMayImportWhom } from "./rules/imports.ts";
import { noMachine } from "./rules/machine.ts";
import { bannedInDeterministicRings } from "./rules/names.ts";
import { reachable } from "./rules/reach.ts";
import { sizes } from "./rules/size.ts";

const rules: Rule[] = [
  whoMayImportWhom,
  guardsApart,
  packagesApart,
  importsNameFiles,
  bannedInDeterministicRings,
  sizes,
  exportsAreDocumented,
  reachable(entries().map((entry) => entry.source)),
  noMachine,
];

const repo = readRepo();
const shown = ({ path, line, message }: Violation): string => `${path}:${line}  ${message}`;

describe.each(rules.map((rule) => [rule.name, rule] as const))("%s", (_name, rule) => {
  it("reports each planted breach", () => {
    expect(rule.planted.length).toBeGreaterThan(0);
    for (const { files, says } of rule.planted) {
      const messages = rule.check(filesOf(files)).map((violation) => violation.message);
      expect(messages, JSON.stringify(files)).toContainEqual(expect.stringMatching(says));
    }
  });

  it("lets clean files be", () => {
    expect(rule.check(filesOf(rule.clean)).map(shown)).toEqual([]);
  });

  it("holds in this repo", () => {
    expect(rule.check(repo).map(shown)).toEqual([]);
  });
});

it("the repo was really read", () => {
  const paths = repo.map((file) => file.path);
  expect(paths).toContain("package.json");
  expect(paths).toContain("src/index.ts");
  expect(paths.some((path) => path.includes("node_modules"))).toBe(false);
});
