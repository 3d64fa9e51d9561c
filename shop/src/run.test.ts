// Short real runs with a small load. They tell whether the parts work together, never how fast.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, startPostgres } from "./database/server.ts";
import { type Plan, parametersFor, type Timetable } from "./plan.ts";
import { type RunOptions, run } from "./run.ts";
import type { RealRun } from "./summary.ts";
import { fallsOf, wrongFalls } from "./trace.ts";
import { followed } from "./trace-report.ts";

/** A twentieth of the shop: 103 actions a second on one connection. */
const SCALE = 1 / 20;

const planOf = (setting: string, timetable: Timetable, more: Partial<Plan> = {}): Plan => ({
  setting,
  scale: SCALE,
  seed: 3,
  timetable,
  ...more,
});

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const runOf = (plan: Plan, more: Partial<RunOptions> = {}): Promise<RealRun> =>
  run(plan, { postgres, progress: () => {}, signal: new AbortController().signal, pieces: 100, ...more });

const sum = (result: RealRun, of: (second: RealRun["seconds"][number]) => number): number =>
  result.seconds.reduce((total, second) => total + of(second), 0);

/** Processes of this one's own, by the kernel's list: the number and the command of each. */
const childrenOf = (pid: number): string =>
  spawnSync("ps", ["--ppid", String(pid), "-o", "pid=,args="], { encoding: "utf8" }).stdout;

describe("a run", () => {
  it("as shipped commits checkouts more than once, and answers each action once", async () => {
    const words: string[] = [];
    const timetable = { fromS: -1, hiccupS: 6, untilS: 7 };
    const result = await runOf(planOf("C0", timetable), { progress: (each) => words.push(each) });
    expect(result.seconds.map(({ at }) => at)).toEqual([-1, 0, 1, 2, 3, 4, 5, 6]);
    const offered = sum(result, (second) => second.offered);
    const ended = (second: RealRun["seconds"][number]) =>
      second.product + second.cart + second.cartDegraded + second.checkout + second.failed;
    expect(offered).toBeGreaterThan(100);
    expect(sum(result, ended)).toBe(offered);
    expect(sum(result, (second) => second.stockCalls)).toBeGreaterThan(100);
    expect(sum(result, (second) => second.retries)).toBeGreaterThan(0);
    expect(sum(result, (second) => second.extraCommits)).toBeGreaterThan(0);
    expect(result.work.meanMs).toBeGreaterThan(2);
    expect(result.work.hiccupMs).toBeGreaterThan(3 * result.work.meanMs);
    expect(Object.keys(result.before.processes)).toEqual(["app", "shop-api", "stock", "prices"]);
    expect(words).toContain("second 0 of 7, hiccup");
    expect(childrenOf(process.pid)).not.toContain("services");
    expect(await schemas()).toEqual([]);
  });

  it("from C1 on gives up in time, commits nothing twice, and tells each hop what is left", async () => {
    const timetable = { fromS: -3, hiccupS: 8, untilS: 9 };
    const plan = planOf("C1", timetable, { trace: true });
    const result = await runOf(plan);
    expect(sum(result, (second) => second.timeouts)).toBeGreaterThan(0);
    // However late this machine is: the key holds where a deadline's margin cannot.
    expect(sum(result, (second) => second.extraCommits)).toBe(0);
    const shown = followed(result.traces);
    expect(shown.map(({ name }) => name.split(" ")[0])).toEqual(["cart", "checkout", "cart", "checkout"]);
    const marginMs = parametersFor(plan)["deadline.marginMs"];
    expect(shown.flatMap((trace) => wrongFalls(trace, marginMs))).toEqual([]);
    const hops = fallsOf(shown[0] as never).map(({ from, to }) => `${from.hop} to ${to.hop}`);
    expect(hops).toContain("app to shop-api");
    expect(hops).toContain("shop-api to stock");
    expect(hops).toContain("stock to database");
  });

  it.each(["stock", "postgres"] as const)(
    "starts %s again when it was killed, and nothing else",
    async (kill) => {
      const timetable = { fromS: -2, hiccupS: 2, untilS: 10 };
      const pids: Readonly<Record<string, number>>[] = [];
      const port = Number(new URL(postgres.url).port);
      const result = await runOf(planOf("guarded", timetable, { kill }), {
        started: (each) => pids.push(each),
      });
      const [before, after] = pids;
      expect(after?.stock === before?.stock).toBe(kill === "postgres");
      expect({ ...after, stock: 0 }).toEqual({ ...before, stock: 0 });
      expect(Number(new URL(postgres.url).port)).toBe(port);
      const { hiccup, seconds } = result;
      expect(hiccup.product).toBeGreaterThan(0.8 * result.before.product);
      expect(hiccup.cart).toBeLessThan(0.5 * result.before.offered);
      expect(hiccup.cartDegraded).toBeGreaterThan(0);
      // Breakers may have opened at the last moment, for 5 s.
      const full = seconds.filter(({ at, cart, checkout }) => at >= 2 && cart + checkout > 0);
      expect(full.length).toBeGreaterThan(0);
    },
  );

  it("names a port that is taken", async () => {
    const taken = createServer();
    const port = 19_000 + Math.floor(Math.random() * 900);
    await new Promise<void>((resolve) => taken.listen(port + 1, "127.0.0.1", resolve));
    const failure = runOf(planOf("C0", { fromS: -1, hiccupS: 0, untilS: 1 }), { port });
    await expect(failure).rejects.toThrow(
      `port ${port + 1} of 127.0.0.1 is in use: choose another with --port`,
    );
    taken.close();
    expect(childrenOf(process.pid)).not.toContain("services");
  });
});

async function schemas(): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query("select nspname from pg_namespace where nspname like 'plimsoll_shop%'");
  await client.end();
  return rows;
}

/** A process that has ended but that nobody has asked after yet runs no more. */
function runs(pid: number): boolean {
  const state = spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
  return state !== "" && !state.startsWith("Z");
}

const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("plimsoll-pg-"));

describe("a command that is ended", () => {
  const script = fileURLToPath(new URL("../../scripts/shop.mjs", import.meta.url));
  const start = (): ChildProcess =>
    spawn(process.execPath, [script, "--json", "--hiccup", "5"], { stdio: ["ignore", "ignore", "pipe"] });

  /** All that a process has started, and what those have. */
  const below = (pid: number): number[] => {
    const own =
      childrenOf(pid)
        .match(/^ *\d+/gm)
        ?.map(Number) ?? [];
    return own.flatMap((each) => [each, ...below(each)]);
  };

  it.each([
    ["SIGINT", "starting PostgreSQL"],
    ["SIGINT", "measuring stock's work"],
    ["SIGTERM", "warming up"],
    ["SIGKILL", "warming up"],
  ] as const)("by %s, while it says %s, leaves nothing behind", async (signal, moment) => {
    const before = new Set(folders());
    const child = start();
    let stderr = "";
    await new Promise<void>((resolve) => {
      child.stderr?.on("data", (chunk) => {
        stderr += chunk;
        if (stderr.includes(moment)) resolve();
      });
    });
    const pids = below(child.pid as number);
    const made = folders().filter((name) => !before.has(name));
    child.kill(signal);
    const [code] = await once(child, "exit");
    if (signal !== "SIGKILL") {
      expect({ code, said: stderr.includes("nothing is left running") }).toEqual({ code: 130, said: true });
      expect(pids.filter(runs)).toEqual([]);
    }
    expect(pids.length).toBeGreaterThan(0);
    while (pids.some(runs) || folders().some((name) => made.includes(name))) await sleep(50);
  });
});
