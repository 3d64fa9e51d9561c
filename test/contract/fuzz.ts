// Runs one program after another until so many calls have been made, or a law is broken.
import { OptionError } from "../../src/core/index.ts";
import type { Breach } from "./checker.ts";
import { programOf } from "./maker.ts";
import type { Program } from "./program.ts";
import { runBoth, runVirtual, type Verdict } from "./run.ts";
import { shrink } from "./shrink.ts";

/** A broken law, and the smallest program found that breaks it. */
export interface Failure {
  readonly seed: number;
  readonly breach: Breach;
  readonly program: Program;
  readonly log: readonly string[];
}

export interface Fuzzed {
  readonly programs: number;
  readonly calls: number;
  readonly failure: Failure | null;
}

/** The same kind of breach: the law, and the words without the numbers. */
const kindOf = (breach: Breach | null): string =>
  breach === null ? "" : `${breach.law}: ${breach.message.replace(/[\d.]+/g, "#")}`;

/** Whether its stacks may stand so: with a guard less, two that may not may have become neighbours. */
function canBeMade(program: Program): boolean {
  try {
    runVirtual({ ...program, calls: [] }, false);
    return true;
  } catch (error) {
    if (error instanceof OptionError) return false;
    throw error;
  }
}

/** Makes a failing program small, and runs it once more to show it. */
export function failureOf(
  seed: number,
  breach: Breach,
  program: Program,
  run: (program: Program) => Verdict = runBoth,
): Failure {
  const fails = (next: Program): boolean => kindOf(run(next).breach) === kindOf(breach);
  const small = shrink(program, (next) => canBeMade(next) && fails(next));
  const { breach: found, log } = run(small);
  return { seed, breach: found ?? breach, program: small, log };
}

/** Programs of `seed`, `seed` + 1 and so on. `heard` sees every verdict; a failure is shrunk if it is to be `small`. */
export function fuzz(
  seed: number,
  calls: number,
  { heard = () => {}, small = true }: { heard?: (verdict: Verdict) => void; small?: boolean } = {},
): Fuzzed {
  let [programs, done] = [0, 0];
  for (; done < calls; programs++) {
    const program = programOf(seed + programs);
    const verdict = runBoth(program);
    done += verdict.calls;
    heard(verdict);
    if (verdict.breach === null) continue;
    const { breach, log } = verdict;
    const failed = seed + programs;
    const failure = small ? failureOf(failed, breach, program) : { seed: failed, breach, program, log };
    return { programs, calls: done, failure };
  }
  return { programs, calls: done, failure: null };
}

/** What a person needs: the law, the way to see it again, and the small program with what happened in it. */
export function described({ seed, breach, program, log }: Failure): string {
  const calls = program.calls.flatMap((call, index) =>
    call.at !== null || log.some((line) => line.includes(`"call":${index + 1},`)) ? [{ index, ...call }] : [],
  );
  const { stacks, bulkheads, breakers, rates, budgets, acts } = program;
  const parts = { stacks, bulkheads, breakers, rates, budgets, acts, calls };
  return [
    `law ${breach.law}: ${breach.message}`,
    `again: npm run fuzz -- --seed ${seed} --calls 1`,
    "shrunk to:",
    ...Object.entries(parts).flatMap(([name, list]) =>
      list.map((part, index) => `  ${name} ${index}: ${JSON.stringify(part)}`),
    ),
    "what happened:",
    ...log.map((line) => `  ${line}`),
  ].join("\n");
}
