// The stated figures of Basketly, for runs of half a minute: the mean over five seeds lies in the interval.
import { describe, expect, it } from "vitest";
import { percentile } from "../../src/sim/index.ts";
import { everySeed, FEW, over, Runs, recovered, row } from "./runs.ts";

/** Calls to stock a second that the load needs. */
const NEEDED = 1_260;

const calls = (runs: Runs) => runs.mean(({ replay }) => replay.hiccup.stockCalls);

const c1 = new Runs({ setting: "C1" });
const c2 = new Runs({ setting: "C2" });
const c3 = new Runs({ setting: "C3" });
const c4 = new Runs({ setting: "C4" });
const guarded = new Runs({ setting: "guarded" });

describe("a healthy evening", () => {
  const runs = new Runs({ setting: "healthy", untilS: 60, measured: true });
  const sorted = new Map<number, readonly number[]>();
  const samples = (seed: number, from: readonly number[]) => {
    if (!sorted.has(seed))
      sorted.set(
        seed,
        [...from].sort((a, b) => a - b),
      );
    return sorted.get(seed) ?? [];
  };
  const ofCalls = (of: (sorted: readonly number[]) => number) => () =>
    runs.mean(({ replay, measures }) => of(samples(replay.seed, measures?.stockCallsMs ?? [])));
  const mean = (values: readonly number[]) => values.reduce((sum, ms) => sum + ms, 0) / values.length;
  const slow = (values: readonly number[]) => (100 * values.filter((ms) => ms > 5).length) / values.length;

  row("1.c", "stock call, mean ms", 4.15, 4.32, ofCalls(mean));
  row(
    "2.c",
    "stock call P50, ms",
    2.9,
    3.15,
    ofCalls((ms) => percentile(ms, 0.5)),
  );
  row(
    "2.d",
    "stock call P95, ms",
    11.9,
    12.6,
    ofCalls((ms) => percentile(ms, 0.95)),
  );
  row(
    "2.e",
    "stock call P99, ms",
    18.2,
    19.2,
    ofCalls((ms) => percentile(ms, 0.99)),
  );
  row(
    "2.f",
    "stock call P99.9, ms",
    26,
    31,
    ofCalls((ms) => percentile(ms, 0.999)),
  );
  row("2.g", "calls slower than 5 ms, %", 29.9, 31.6, ofCalls(slow));

  const hasty = new Runs({ setting: "healthy-5ms" });
  row("2.h", "5 ms timeout and one retry, x needed", 1.27, 1.37, () => calls(hasty) / NEEDED);
});

describe("C1: bounded waits", () => {
  row("2.i", "recovers at", 20, 20, () => c1.mean(recovered));
  row("3.d", "calls reaching stock, x needed", 5.3, 5.5, () => calls(c1) / NEEDED);

  it("2.j the whole time left sent, cancel working: the very history of C1", { timeout: 600_000 }, () => {
    const cancelled = new Runs({ setting: "10z-cancel" }, FEW);
    const hashes = c1.replays.slice(0, FEW.length).map(({ hash }) => hash);
    expect(cancelled.replays.map(({ hash }) => hash)).toEqual(hashes);
  });

  const lost = new Runs({ setting: "10z", untilS: 26 }, FEW);
  everySeed("2.k", "cancel lost: never recovers", lost, null, ({ replay }) => replay.recoveredAtS);
  row("2.l", "cancel lost: wasted queries after the hiccup", 1_900, 2_050, () =>
    lost.mean(({ replay }) => over(replay, 22, 26, (second) => second.dbForNobody)),
  );
});

describe("one retry layer, jitter, a budget", () => {
  row("3.e", "C2 calls reaching stock, x needed", 1.85, 1.95, () => calls(c2) / NEEDED);
  row("4.a", "C3 calls reaching stock, x needed", 1.85, 1.95, () => calls(c3) / NEEDED);
  row("5.a", "C4 calls to stock", 1_360, 1_400, () => calls(c4));
  row("5.b", "C4 retries refused by the budget", 925, 965, () =>
    c4.mean(({ replay }) => replay.hiccup.refused.budget),
  );
  row("5.e", "C4 calls, x needed", 1.08, 1.12, () => calls(c4) / NEEDED);
  row("5.f", "C4 checkouts", 8.3, 10.2, () => c4.mean(({ replay }) => replay.hiccup.checkout));

  const wide = new Runs({ setting: "13a" });
  row("5.c", "13a calls to stock", 1_360, 1_405, () => calls(wide));
  row("5.d", "13a retries refused by the budget", 925, 965, () =>
    wide.mean(({ replay }) => replay.hiccup.refused.budget),
  );
});

describe.each([
  ["C1", c1],
  ["C2", c2],
  ["C3", c3],
  ["C4", c4],
  ["guarded", guarded],
] as const)("%s", (_, runs) => {
  everySeed("3.c", "no extra commits", runs, 0, ({ replay }) =>
    replay.seconds.reduce((sum, second) => sum + second.extraCommits, 0),
  );
});

describe("as shipped, with a cap on calls to stock", () => {
  const narrow = new Runs({ setting: "C0-cap40" });
  const wide = new Runs({ setting: "C0-cap60" });
  row("8.c", "cap 40: views answered", 175, 200, () => narrow.mean(({ replay }) => replay.hiccup.cart));
  row("8.d", "cap 60: views answered", 0, 20, () => wide.mean(({ replay }) => replay.hiccup.cart));
  row("8.e", "cap 60: product pages", 785, 815, () => wide.mean(({ replay }) => replay.hiccup.product));
  row("8.f", "cap 40 recovers at", 20, 20, () => narrow.mean(recovered));
  row("8.g", "cap 60 recovers at", 20, 21, () => wide.mean(recovered));
});

describe("guarded: budget, breakers, bulkhead, brownout", () => {
  row("9.a", "degraded cart views", 1_170, 1_210, () =>
    guarded.mean(({ replay }) => replay.hiccup.cartDegraded),
  );
  row("9.c", "full answers", 835, 880, () => guarded.mean(({ replay }) => replay.hiccup.goodput));
  row("9.e", "recovers at", 21, 21.5, () => guarded.mean(recovered));
});
