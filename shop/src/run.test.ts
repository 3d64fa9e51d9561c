import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { newSecond, type Second } from "plimsoll/sim";
import { describe, expect, it } from "vitest";
import { bars, seen } from "./report.ts";
import { type RealRun, recovery, run, secondsOf } from "./run.ts";

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

describe("what was seen", () => {
  const HICCUP_S = 2;
  const phase = (more: object = {}) => ({ ...newSecond(0), offered: 100, p50Ms: null, p99Ms: null, ...more });
  const made = (setting: string, seconds: Second[], after: object): RealRun => ({
    setting,
    meanWorkMs: 4,
    lagMs: { p50: 0, p99: 0, max: 0 },
    seconds,
    before: phase({ product: 40 }),
    hiccup: phase({ product: 39, cartDegraded: 60 }),
    after: phase(after),
    ...recovery(seconds),
  });
  const evening = (good: (at: number) => boolean, breaker = 0) =>
    Array.from({ length: 26 }, (_, index) => {
      const each = second(index - 2, good(index - 2) ? 100 : 0);
      return { ...each, refused: { ...each.refused, breaker: good(each.at) ? 0 : breaker } };
    });
  const down = made(
    "C0",
    evening((at) => at < 0),
    { dbForNobody: 480 },
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
      after,
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

/** Children of a process, by the kernel's own list: the number and the command of each. */
const childrenOf = (pid: number): string =>
  spawnSync("ps", ["--ppid", String(pid), "-o", "pid=,args="], { encoding: "utf8" }).stdout;

describe("a run", { timeout: 90_000 }, () => {
  it("counts the same things in every process, and leaves none behind", async () => {
    const timetable = { fromS: -1, hiccupS: 1, untilS: 2 };
    const words: string[] = [];
    const plan = { setting: "guarded", scale: 0.05, seed: 3, timetable };
    const result = await run(plan, (progress) => words.push(progress), new AbortController().signal);
    expect(result.seconds.map(({ at }) => at)).toEqual([-1, 0, 1]);
    const offered = result.seconds.reduce((sum, each) => sum + each.offered, 0);
    const answered = result.seconds.reduce(
      (sum, { product, cart, cartDegraded, checkout, failed }) =>
        sum + product + cart + cartDegraded + checkout + failed,
      0,
    );
    expect(offered).toBeGreaterThan(100);
    expect(answered).toBe(offered);
    expect(result.seconds.some(({ stockCalls }) => stockCalls > 0)).toBe(true);
    expect(result.meanWorkMs).toBeGreaterThan(2);
    expect(words).toContain("second 0 of 2, hiccup");
    expect(childrenOf(process.pid)).not.toContain("services");
  });

  it("ends by Ctrl-C with nothing left running", async () => {
    const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
    const child = spawn(process.execPath, [main, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
    let stderr = "";
    const started = new Promise<void>((resolve) => {
      child.stderr.on("data", (chunk) => {
        stderr += chunk;
        if (stderr.includes("measuring")) resolve();
      });
    });
    await started;
    const services = childrenOf(child.pid as number);
    child.kill("SIGINT");
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect(services).toContain("stock");
    expect({ code, says: stderr.includes("nothing is left running") }).toEqual({ code: 130, says: true });
    const pids = services.match(/^ *\d+/gm)?.map(Number) ?? []; // these alone: others may run a shop of their own
    const alive = (pid: number): boolean => spawnSync("ps", ["-p", String(pid)]).status === 0;
    expect(pids.length).toBeGreaterThan(0);
    expect(pids.filter(alive)).toEqual([]);
  });

  it("refuses what it does not know", () => {
    const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [main, "--fast"], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: "plimsoll: --fast is not known here; allowed: --json\n",
    });
  });
});
