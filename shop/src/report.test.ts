// What is made of the counts: seconds, a recovery, a comparison with the simulation, two sentences.
import { newSecond, type Second } from "plimsoll/sim";
import { describe, expect, it } from "vitest";
import { compare, farOff } from "./compare.ts";
import { type Plan, timetable } from "./plan.ts";
import { comparedReport, seen } from "./report.ts";
import { type RealRun, recovery, secondsOf } from "./summary.ts";
import { bars } from "./table.ts";
import { noResult } from "./verdict.ts";

const second = (at: number, goodput: number): Second => ({ ...newSecond(at), offered: 100, goodput });

describe("recovery", () => {
  it("is the first second from which all are good", () => {
    const seconds = [second(-1, 100), second(0, 0), second(1, 94), second(2, 95), second(3, 100)];
    expect(recovery(seconds)).toEqual({ recoveredAtS: 2, badSeconds: [] });
  });

  it("allows one bad second since, and names it", () => {
    const seconds = [second(0, 0), second(1, 100), second(2, 50), second(3, 100)];
    expect(recovery(seconds)).toEqual({ recoveredAtS: 1, badSeconds: [2] });
    expect(recovery([...seconds, second(4, 50), second(5, 100)])).toEqual({
      recoveredAtS: 3,
      badSeconds: [4],
    });
  });

  it("is none when it never lasts", () => {
    expect(recovery([second(0, 0), second(1, 0)])).toEqual({ recoveredAtS: null, badSeconds: [] });
  });
});

describe("secondsOf", () => {
  it("adds up what instances of one service counted", () => {
    const shop = (queued: number) => ({ seconds: [[0, { queued }]] as [number, Record<string, number>][] });
    expect(secondsOf([shop(3), shop(4)], 0, 1)[0]).toMatchObject({ queued: 7 });
  });

  it("puts the processes' counts together and works out whom the work was for", () => {
    const app = {
      seconds: [[0, { offered: 5, dbUseful: 2, goodput: 3 }]] as [number, Record<string, number>][],
    };
    const shop = {
      seconds: [[0, { stockCalls: 4, "refused.breaker": 1 }]] as [number, Record<string, number>][],
    };
    const stock = {
      seconds: [
        [0, { dbFinished: 3 }],
        [1, { dbFinished: 1 }],
      ] as [number, Record<string, number>][],
    };
    const [first, next] = secondsOf([app, shop, stock], 0, 2);
    expect(first).toMatchObject({
      at: 0,
      offered: 5,
      goodput: 3,
      stockCalls: 4,
      dbUseful: 2,
      dbForNobody: 1,
    });
    expect(first?.refused.breaker).toBe(1);
    expect(next).toMatchObject({ at: 1, offered: 0, dbForNobody: 1 });
  });
});

it("draws a bar a second", () => {
  expect(bars([0, 4, 8, 9], 8)).toBe(" ▄██");
});

const plan = (setting: string): Plan => ({ setting, scale: 0.25, seed: 1, timetable: timetable(2) });
const phase = (more: object = {}) => ({
  ...newSecond(0),
  offered: 100,
  goodput: 100,
  p50Ms: null,
  p99Ms: null,
  workMs: null,
  processes: {},
  machine: 0.5,
  ...more,
});
const made = (setting: string, seconds: Second[], more: Partial<Record<string, object>> = {}): RealRun => ({
  setting,
  plan: plan(setting),
  work: { meanMs: 4, restMs: 0.5, hiccupMs: 40 },
  lagMs: { p50: 0, p99: 0, max: 0 },
  seconds,
  before: phase({ product: 40, ...more.before }),
  hiccup: phase({ product: 39, cartDegraded: 60, ...more.hiccup }),
  after: phase(more.after),
  ...recovery(seconds),
  traces: [],
  vitals: {},
});

describe("beside the simulation", () => {
  const run = made("C0", [second(0, 100)], { after: { stockCalls: 120, checkout: 5, queued: 12 } });
  const same = { ...newSecond(0), offered: 100 };
  const simulated = {
    before: same,
    hiccup: same,
    after: { ...same, stockCalls: 100, checkout: 4, queued: 10 },
    recoveredAtS: [null, 3],
  };
  const compared = compare(run, simulated);
  const row = (name: string) => compared.rows.find((each) => each.name === name);

  it("has an error where enough happens to tell one", () => {
    expect(row("calls to stock")?.after).toEqual({ real: 120, simulated: 100, error: 0.2 });
    expect(row("checkouts")?.after.error).toBeNull();
    expect(row("queued in shop-api")?.after.error).toBeCloseTo(0.2);
    expect(row("extra commits")).toBeUndefined();
  });

  it("names what is far off", () => {
    expect(farOff(compared)).toEqual(["C0, after, calls to stock", "C0, after, queued in shop-api"]);
    const text = comparedReport(compared);
    expect(text).toContain("recovered at: 0 s; simulated (by seed): never, 3 s");
    expect(text).toMatch(/C0: calls to stock .* 120 +100 +\+20 %/);
  });
});

it("is no result when the generator or the machine was behind before the trouble", () => {
  const good = made("C0", []);
  expect(noResult(good)).toEqual([]);
  const lagging = { ...good, lagMs: { p50: 1, p99: 300, max: 400 } };
  expect(noResult(lagging)).toEqual([expect.stringContaining("fell behind by 300 ms (P99)")]);
  const starved = made("C0", [], {
    before: { machine: 0.9, processes: { stock: { cpu: 0.95, lagMs: 9, maxLagMs: 20 } } },
  });
  expect(noResult(starved)).toEqual([
    expect.stringContaining("stock used 95 % of a CPU in health"),
    expect.stringContaining("the machine was 90 % busy (before)"),
  ]);
  expect(noResult(made("C0", [], { before: { goodput: 80 } }))).toEqual([
    expect.stringContaining("only 80 % of what was offered"),
  ]);
});

describe("what was seen", () => {
  const HICCUP_S = 2;
  const evening = (good: (at: number) => boolean, breaker = 0) =>
    Array.from({ length: 26 }, (_, index) => {
      const each = second(index - 2, good(index - 2) ? 100 : 0);
      return { ...each, refused: { ...each.refused, breaker: good(each.at) ? 0 : breaker } };
    });
  const down = made(
    "C0",
    evening((at) => at < 0),
    { after: { goodput: 0, dbForNobody: 480 } },
  );
  const guarded = (good: (at: number) => boolean, breaker = 0) =>
    made(
      "guarded",
      evening((at) => at < 0 || good(at), breaker),
      {},
    );
  const said = (...runs: RealRun[]) => seen(runs, HICCUP_S);

  it("says that one never came back, and how soon the other did", () => {
    expect(
      said(
        down,
        guarded((at) => at > 2),
      ),
    ).toBe(
      "As shipped it never came back: after the hiccup 0 % of what was offered was answered in full, while stock did 480 pieces of work a second for nobody. " +
        "With its guards it kept 98 % of its product pages in the hiccup, served 60 carts a second without badges, and was back at second 3, 1 s after the hiccup's end.",
    );
  });

  it("names what was measured if the first did not stay down", () => {
    const after = { goodput: 99, dbUseful: 300, dbForNobody: 20, appAttempts: 101, stockCalls: 325 };
    const up = made(
      "C0",
      evening((at) => at < 0 || at > 8),
      { after },
    );
    expect(
      said(
        up,
        guarded(() => true),
      ),
    ).toContain(
      "As shipped it did not stay down: after the hiccup 99 % of what was offered was answered in full, and it was back at second 9, because too little of stock's work was for nobody: 20 of 320 pieces a second, from 101 attempts of the apps and 325 calls to stock.",
    );
  });

  it("says so if a breaker kept the second down, if a second was bad, and if it never came back", () => {
    const late = guarded((at) => at > 6, 9);
    const remark = "was back at second 7, 5 s after the hiccup's end (a breaker had opened just before";
    expect(said(down, late)).toContain(`${remark} the hiccup's end, for 5 s).`);
    expect(
      said(
        down,
        guarded((at) => at > 6),
      ),
    ).not.toContain("a breaker");
    expect(
      said(
        down,
        guarded((at) => at > 2 && at !== 9),
      ),
    ).toContain("(one bad second since: 9).");
    expect(
      said(
        down,
        guarded(() => false),
      ),
    ).toContain("and was not back for good by the end.");
  });
});
