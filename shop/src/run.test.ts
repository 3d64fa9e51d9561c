import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { newSecond, type Second } from "plimsoll/sim";
import { describe, expect, it } from "vitest";
import { bars } from "./report.ts";
import { recovery, run, secondsOf } from "./run.ts";

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

/** Children of a process, by the kernel's own list. */
const childrenOf = (pid: number): string =>
  spawnSync("ps", ["--ppid", String(pid), "-o", "args="], { encoding: "utf8" }).stdout;

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
    const left = spawnSync("pgrep", ["-f", "shop/dist/services"], { encoding: "utf8" }).stdout;
    expect(left.trim()).toBe("");
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
