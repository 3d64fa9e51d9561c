// The fuzz is worth what it catches: a kernel with a fault in it must fail, and the kernel as it is must not.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import { bundle, runModule } from "../../scripts/lib/bundle.mjs";
import { root } from "../lib/repo.ts";
import { MUTANTS, type Mutant, patternOf } from "./mutants.ts";

const ENTRY = 'import "~/test/contract/main.ts";';
const CALLS = 20_000;

/** The changes as the bundler takes them: with the text that really stands there. */
function patchesOf({ changes }: Mutant) {
  return changes.map(({ file, find, replace }) => {
    const found = readFileSync(root + file, "utf8").match(patternOf(find)) ?? [];
    if (found.length !== 1) throw new Error(`${file} holds ${found.length} of: ${find}`);
    return { file, find: found[0], replace };
  });
}

/** What the fuzz says of a changed kernel: nothing, or the first lines of what it found. */
async function verdictOn(mutant: Mutant): Promise<string> {
  const code = await bundle(ENTRY, patchesOf(mutant));
  const {
    code: status,
    stdout,
    stderr,
  } = await runModule(code, ["--seed", "1", "--calls", `${CALLS}`, "--as-it-is"]);
  if (status === 0) return "";
  const law = stdout.split("\n").find((line) => line.startsWith("law "));
  return law ?? `no law, but ${stderr.split("\n").find((line) => /Error/.test(line)) ?? status}`;
}

describe("the contract's fuzz catches a kernel in which", () => {
  it("no fault's text has moved, and no two faults are the same", () => {
    for (const mutant of MUTANTS) expect(patchesOf(mutant).length, mutant.name).toBeGreaterThan(0);
    expect(new Set(MUTANTS.map((mutant) => mutant.name)).size).toBe(MUTANTS.length);
    expect(MUTANTS.length).toBeGreaterThanOrEqual(16);
  });

  it("nothing is wrong: there it finds nothing", { timeout: 120_000 }, async () => {
    expect(await verdictOn({ name: "none", law: "", changes: [] })).toBe("");
  });

  it.concurrent.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    "%s",
    { timeout: 120_000 },
    async (_name, mutant) => {
      const verdict = await inTurn(() => verdictOn(mutant));
      expect(verdict).toMatch(/^law /);
    },
  );
});

let running = 0;
const waiting: (() => void)[] = [];

/** As many at once as there are processors. */
async function inTurn<T>(run: () => Promise<T>): Promise<T> {
  if (running >= availableParallelism()) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  try {
    return await run();
  } finally {
    running--;
    waiting.shift()?.();
  }
}
