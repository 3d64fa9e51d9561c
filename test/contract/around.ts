// What stands around the work that goes on: scopes, and the attempts in the course of which it was begun.
import { type Admission, Attempt } from "../../src/core/index.ts";
import type { WorkRun } from "./records.ts";
import type { World } from "./world.ts";

/** Admissions that last because of something within them. */
export interface Around {
  /** Those that certainly do. */
  readonly sure: ReadonlySet<Admission>;
  /** Those that may: those around what was begun when they had ended by themselves, too. */
  readonly possible: ReadonlySet<Admission>;
}

export function aroundOf({ live, calls }: World): Around {
  const [sure, possible] = [new Set<Admission>(), new Set<Admission>()];
  for (const run of live) {
    addSure(run, sure);
    addAll(run.attempt.outer, possible);
  }
  for (const { goesOn, outer } of calls) {
    if (!goesOn || outer === null) continue;
    sure.add(outer.attempt);
    addSure(outer, sure);
    addAll(outer.attempt, possible);
  }
  return { sure, possible };
}

function addSure(run: WorkRun, to: Set<Admission>): void {
  for (let at: WorkRun | null = run; at !== null; at = at.within) {
    if (at !== run) to.add(at.attempt);
    for (let { outer } = at.attempt; outer !== null && !(outer instanceof Attempt); { outer } = outer)
      to.add(outer);
  }
}

function addAll(from: Admission | null, to: Set<Admission>): void {
  for (let at = from; at !== null; at = at.outer) to.add(at);
}
