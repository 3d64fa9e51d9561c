// The small scenarios: each a few guards on a virtual clock, held to the figure that it is known for.
import { describe, expect, it } from "vitest";
import { SCENARIOS } from "../../src/sim/index.ts";
import { average, row, SEEDS } from "./runs.ts";

const results = new Map<string, readonly Readonly<Record<string, number>>[]>();

/** The mean of a figure over the seeds. */
function mean(name: string, figure: string): number {
  const scenario = SCENARIOS.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(name);
  let runs = results.get(name);
  if (runs === undefined) {
    runs = SEEDS.map((seed) => scenario.run(seed));
    results.set(name, runs);
  }
  return average(runs.map((run) => run[figure] ?? Number.NaN));
}

describe("retries at once (Part 4)", () => {
  row("4.b", "smallest 10 ms slot of 100", 2, 7, () => mean("jitter", "smallestSlot"));
  row("4.c", "largest 10 ms slot", 18, 27, () => mean("jitter", "largestSlot"));
});

describe("replay P: periodic work (Part 4)", () => {
  row("4.d", "same minute: seconds at the ceiling", 13.4, 13.6, () =>
    mean("P-same", "secondsAtCeilingAMinute"),
  );
  row("4.e", "stable offsets: peak reads a second", 300, 550, () => mean("P-offset", "peakASecond"));
  row("4.f", "stable offsets: mean reads a second", 166, 168, () => mean("P-offset", "meanASecond"));
});

describe("what multiplies", () => {
  row("3", "three layers of three attempts", 27, 27, () => mean("retry-depth", "threeLayers"));
  row("3", "five layers of three attempts", 243, 243, () => mean("retry-depth", "fiveLayers"));
  // 263 % and 4 % are reckoned as timeout × 42 ÷ (open × 2); a probe's own time makes the period longer, and the
  // first call of each, before its breaker opens, is one more.
  row("7", "semian-probes, 0.25 s and 2 s", 2.2, 2.8, () => mean("semian-probes", "before"));
  row("7", "semian-probes, 50 ms and 30 s", 0.03, 0.05, () => mean("semian-probes", "after"));
});

describe("what jitter is for", () => {
  row(
    "4",
    "contention: attempts with full jitter, of those without",
    0.3,
    0.5,
    () => mean("contention-jitter", "attemptsWithJitter") / mean("contention-jitter", "attemptsWithout"),
  );
  row("7", "probes of 1,000 clients at once, fixed", 950, 1_000, () =>
    mean("probe-herd", "fixedPeakIn100Ms"),
  );
  row("7", "the same, jittered", 80, 160, () => mean("probe-herd", "jitteredPeakIn100Ms"));
});

describe("the tail at scale", () => {
  row("5", "P99.9 of 1,000 keys, ms", 1_000, 3_000, () => mean("tail-at-scale", "p999WithoutMs"));
  row("5", "the same with a hedge after 10 ms", 20, 100, () => mean("tail-at-scale", "p999HedgedMs"));
  row("5", "extra requests", 0.015, 0.03, () => mean("tail-at-scale", "extraRequests"));
});

describe("a breaker that opens in part", () => {
  row("7", "good answers when a third fails: a breaker at half", 1, 1, () =>
    mean("partial-breaker", "goodHalf"),
  );
  row("7", "one at a quarter", 0.1, 0.16, () => mean("partial-breaker", "goodQuarter"));
  row("7", "a partial one", 0.54, 0.62, () => mean("partial-breaker", "goodPartial"));
  row("7", "failures that it lets through then", 1_100, 1_200, () =>
    mean("partial-breaker", "failedThirdPartial"),
  );
  row("7", "those of a breaker at half", 1_900, 2_050, () => mean("partial-breaker", "failedThirdHalf"));
  row("7", "and of the partial one when all fail, of 6,000", 220, 280, () =>
    mean("partial-breaker", "failedPartial"),
  );
});

describe("tied requests", () => {
  row("5", "P99 from one of two replicas, ms", 20, 30, () => mean("tied-requests", "p99OneMs"));
  row("5", "with a copy after 1 ms", 14, 19, () => mean("tied-requests", "p99HedgedMs"));
  row("5", "each is served", 1.6, 1.75, () => mean("tied-requests", "servedHedged"));
  row("5", "with the two tied", 17, 21, () => mean("tied-requests", "p99TiedMs"));
  row("5", "each is served", 1, 1.05, () => mean("tied-requests", "servedTied"));
});

it("gives the same figures for the same seed", () => {
  for (const scenario of SCENARIOS.filter(({ name }) => name !== "semian-probes"))
    expect(scenario.run(3), scenario.name).toEqual(scenario.run(3));
});
