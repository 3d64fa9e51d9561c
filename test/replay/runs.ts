// Runs that the conformance tests share, and what is read off them. Sources: the stated figures of the Basketly page.
import { expect, it } from "vitest";
import { type MeasuredReplay, type Replay, replayBasketly, type Second } from "../../src/sim/index.ts";

export const SEEDS = [1, 2, 3, 4, 5];

/**
 * For runs that take long and whose figures hardly depend on the seed. With `PLIMSOLL_FIGURES=1`, which also prints
 * every figure, all seeds are run here too.
 */
export const FEW: readonly number[] = process.env.PLIMSOLL_FIGURES === undefined ? [1, 2] : SEEDS;

/** What every run of a table is made with. */
export interface Plan {
  readonly setting: string;
  readonly untilS?: number;
  readonly overrides?: Readonly<Record<string, number | boolean | string>>;
  readonly measured?: boolean;
}

export type Run = MeasuredReplay;

/** Runs one plan with each seed, once, when the first row asks for it. */
export class Runs {
  readonly seeds: readonly number[];
  readonly #plan: Plan;
  #made: Run[] | undefined;

  constructor(plan: Plan, seeds: readonly number[] = SEEDS) {
    this.seeds = seeds;
    this.#plan = plan;
  }

  get all(): readonly Run[] {
    this.#made ??= this.seeds.map((seed) => replayBasketly({ ...this.#plan, seed }));
    return this.#made;
  }

  get replays(): readonly Replay[] {
    return this.all.map(({ replay }) => replay);
  }

  /** The mean over the seeds. */
  mean(of: (run: Run) => number): number {
    return average(this.all.map(of));
  }
}

export function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean of something over the seconds from `from` to `to`, the last not included. */
export function over(replay: Replay, from: number, to: number, of: (second: Second) => number): number {
  return average(replay.seconds.filter(({ at }) => at >= from && at < to).map(of));
}

/** A row of the table: a figure, and the interval that it must lie in. */
export function row(id: string, what: string, low: number, high: number, figure: () => number): void {
  it(`${id} ${what}: ${low} to ${high}`, { timeout: 600_000 }, () => {
    const value = figure();
    if (process.env.PLIMSOLL_FIGURES !== undefined)
      console.log(`${id} | ${what} | ${low} to ${high} | ${value}`);
    expect(value).toBeGreaterThanOrEqual(low);
    expect(value).toBeLessThanOrEqual(high);
  });
}

/** A row that holds for every seed. */
export function everySeed<T>(id: string, what: string, runs: Runs, expected: T, of: (run: Run) => T): void {
  it(`${id} ${what}`, { timeout: 600_000 }, () => {
    expect(runs.all.map(of)).toEqual(runs.seeds.map(() => expected));
  });
}

/** When a run recovered, as a number that fails every interval if it never did. */
export function recovered({ replay }: Run): number {
  return replay.recoveredAtS ?? Number.POSITIVE_INFINITY;
}
