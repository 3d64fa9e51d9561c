// The fuzz is worth what it catches: a kernel with a fault in it must fail, and the kernel as it is must not.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import { bundle, runModule } from "../../scripts/lib/bundle.mjs";
import { root } from "../lib/repo.ts";
import { type Mutant, patternOf } from "./mutant.ts";
import { MUTANTS } from "./mutants.ts";

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

/** The seeds whose programs have caught each, `seed name` in a line: tried first, to save the way there. */
const GOLDEN = new URL("caught.golden.txt", import.meta.url);
const caught = new Map(
  readFileSync(GOLDEN, "utf8")
    .split("\n")
    .map((line) => [line.slice(line.indexOf(" ") + 1), Number.parseInt(line, 10)]),
);

/** What the fuzz says of a changed kernel: nothing, or the first lines of what it found, and the seed. */
async function verdictOn(mutant: Mutant): Promise<{ law: string; seed: number }> {
  const code = await bundle(ENTRY, patchesOf(mutant));
  const seed = caught.get(mutant.name);
  const known = seed === undefined ? NOTHING : await verdictOf(code, seed, 1);
  return known === NOTHING ? verdictOf(code, 1, CALLS) : known;
}

const NOTHING = { law: "", seed: 0 };

async function verdictOf(code: string, from: number, calls: number): Promise<{ law: string; seed: number }> {
  const args = ["--seed", `${from}`, "--calls", `${calls}`, "--as-it-is"];
  const { code: status, stdout, stderr } = await runModule(code, args);
  if (status === 0) return NOTHING;
  const law = stdout.split("\n").find((line) => line.startsWith("law "));
  const [, seed = "0"] = /--seed (\d+)/.exec(stdout) ?? [];
  return {
    law: law ?? `no law, but ${stderr.split("\n").find((line) => /Error/.test(line)) ?? status}`,
    seed: Number(seed),
  };
}

describe("the contract's fuzz catches a kernel in which", () => {
  it("no fault's text has moved, and no two faults are the same", () => {
    for (const mutant of MUTANTS) expect(patchesOf(mutant).length, mutant.name).toBeGreaterThan(0);
    expect(new Set(MUTANTS.map((mutant) => mutant.name)).size).toBe(MUTANTS.length);
    expect(MUTANTS.length).toBeGreaterThanOrEqual(80);
  });

  it("nothing is wrong: there it finds nothing", { timeout: 120_000 }, async () => {
    expect(await verdictOn({ name: "none", law: "", changes: [] })).toBe(NOTHING);
  });

  const found = new Map<string, number>();
  it.concurrent.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    "%s",
    { timeout: 120_000 },
    async (name, mutant) => {
      const { law, seed } = await inTurn(() => verdictOn(mutant));
      expect(law).toMatch(/^law /);
      found.set(name, seed);
    },
  );

  // Where programs have become other ones, this fails: run `npx vitest run test/contract --update`.
  it("each where it was caught before", async () => {
    const lines = MUTANTS.map(({ name }) => `${found.get(name)} ${name}\n`);
    await expect(lines.join("")).toMatchFileSnapshot(GOLDEN.pathname);
  });
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
