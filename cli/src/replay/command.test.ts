import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const bin = fileURLToPath(new URL("../../bin/plimsoll.js", import.meta.url));
const replay = (...args: string[]) =>
  spawnSync(process.execPath, [bin, "replay", "basketly", ...args], { encoding: "utf8" });

describe("plimsoll replay basketly", { timeout: 60_000 }, () => {
  it("prints one JSON object and nothing else", () => {
    const args = [
      "--setting",
      "guarded",
      "--seed",
      "2",
      "--until",
      "3",
      "--set",
      "load.factor=0.5",
      "--json",
    ];
    const { status, stdout, stderr } = replay(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const run = JSON.parse(stdout);
    expect(Object.keys(run)).toEqual(
      "scenario setting seed overrides hash events seconds hiccup recoveredAtS".split(" "),
    );
    expect(run).toMatchObject({ scenario: "basketly", setting: "guarded", seed: 2 });
    expect(run.overrides).toEqual({ "load.factor": 0.5 });
    expect(run.seconds).toHaveLength(18);
    expect(Object.keys(run.seconds[0])).toEqual(
      (
        "at offered product cart cartDegraded checkout failed goodput appAttempts stockCalls retries timeouts " +
        "refused dbUseful dbForNobody duplicatedCheckouts extraCommits queued busy insideStock waitingForConnection"
      ).split(" "),
    );
    expect(Object.keys(run.seconds[0].refused)).toEqual("admission age breaker bulkhead budget".split(" "));
    expect(Object.keys(run.hiccup)).toContain("goodput");
    expect(stdout).toBe(replay(...args).stdout);
  });

  it("prints a table, a chart and two sentences for people", () => {
    const { status, stdout } = replay("--setting", "C4", "--until", "4");
    expect(status).toBe(0);
    expect(stdout).toContain("Basketly, setting C4, seed 1");
    expect(stdout).toMatch(/^20:00:03 .*\d$/m);
    expect(stdout).toMatch(/goodput \|[▁▂▃▄▅▆▇█ ]{19}\|/);
    expect(stdout).toContain("It has not recovered by 20:00:04.");
  });

  it.each([
    [["--setting", "C9"], /setting: "C9" is not allowed; allowed: C0, /],
    [["--setting", "C0", "--seed", "one"], /--seed: "one" is not allowed; allowed: a number/],
    [["--setting", "C0", "--set", "load.cart"], /--set: "load.cart" is not allowed; allowed: KEY=VALUE/],
    [["--setting", "C0", "--set", "load.cart=x"], /load.cart: "x" is not allowed; allowed: a number from 0/],
    [["--setting", "C0", "--set", "cart=1"], /cart: "1" is not allowed; allowed: one of the keys /],
  ])("refuses %j before anything runs", (args, message) => {
    const { status, stdout, stderr } = replay(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(message);
  });

  it("lists every key in its help", () => {
    const { stdout } = replay("--help");
    expect(stdout).toContain("shop-api.stock.timeoutMs");
    expect(stdout).toContain("at.S.KEY=VALUE");
  });
});
