// A real redis-server for a test, on a socket of its own: killed, frozen and started again at will, gone with the test.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis, type RedisOptions } from "ioredis";
import { onTestFinished } from "vitest";
import {
  type GuardedRedis,
  type GuardedRedisOptions,
  guardedRedis,
  NO_REPEATS,
} from "../../src/node/redis/index.ts";
import { NodeRuntime } from "../../src/node/runtime.ts";
import { sleep } from "./http.ts";

/** A server of a test. */
export interface RedisServer {
  /** Its socket. */
  readonly path: string;
  /** Asks it, past every guard. */
  ask(command: string, ...words: (string | number)[]): Promise<unknown>;
  /** How often it has executed a command since it was started. */
  calls(command: string): Promise<number>;
  /** A client that neither repeats nor keeps commands, closed with the test. */
  client(options?: RedisOptions): Redis;
  /** The same, guarded by the name "cache", and connected. */
  guarded(options?: Partial<GuardedRedisOptions>, client?: RedisOptions): Promise<GuardedRedis<Redis>>;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
  /** Starts it (again). */
  start(...config: string[]): Promise<void>;
  /** Stops it where it stands, or lets it go on. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
}

/** Starts a server. `config` is as on its command line: `"--maxmemory", "1"`. */
export async function startRedis(...config: string[]): Promise<RedisServer> {
  await findBinary();
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-redis-"));
  const path = join(folder, "socket");
  let child: ChildProcess | null = null;
  const client = (options: RedisOptions = {}): Redis => {
    const made = new Redis<"legacy">({ ...NO_REPEATS, path, retryStrategy: () => 20, ...options } as object);
    made.on("error", () => {}); // a server that is down is what these tests are about
    onTestFinished(() => made.disconnect());
    return made;
  };
  const server: RedisServer = {
    path,
    client,
    async ask(command, ...words) {
      // Also of one that is busy or loading.
      const unchecked = { enableReadyCheck: false, disableClientInfo: true, protocol: 2 } as const;
      const asker = new Redis({ path, retryStrategy: () => null, ...unchecked });
      try {
        return await asker.call(command, ...words);
      } finally {
        asker.disconnect();
      }
    },
    async calls(command) {
      const stats = String(await server.ask("info", "commandstats"));
      return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    },
    async guarded(options, about) {
      const made = client(about);
      const cache = guardedRedis(made, { name: "cache", ...options }, new NodeRuntime());
      if (made.status !== "ready" && about?.lazyConnect !== true) await once(made, "ready");
      return cache;
    },
    async kill() {
      if (child === null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      child = null;
    },
    async start(...more) {
      const usual = [
        "--port",
        "0",
        "--unixsocket",
        path,
        "--dir",
        folder,
        "--save",
        "",
        "--appendonly",
        "no",
      ];
      child = spawn("redis-server", [...usual, ...config, ...more], { stdio: "ignore" });
      while (!(await accepts(path))) await sleep(5);
    },
    signal: (signal) => void child?.kill(signal),
  };
  onTestFinished(async () => {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await server.start();
  return server;
}

function accepts(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path, () => {
      socket.destroy();
      done(true);
    });
    socket.on("error", () => done(false));
  });
}

/** Looks for the server's program; as root on Debian, installs it. Other test files may be doing so at this moment. */
async function findBinary(): Promise<void> {
  const there = (): boolean => spawnSync("redis-server", ["--version"]).status === 0;
  const mayInstall = process.getuid?.() === 0 && spawnSync("apt-get", ["--version"]).status === 0;
  for (let tries = 0; mayInstall && tries < 5 && !there(); tries++) {
    await sleep(tries * 2_000);
    spawnSync("apt-get", ["update"]);
    const quiet = ["-y", "-o", "DPkg::Lock::Timeout=120", "--no-install-recommends"];
    spawnSync("apt-get", ["install", ...quiet, "redis-server"], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  }
  if (!there()) {
    throw new Error(
      "redis-server was not found: these tests need Redis 7 (Debian: `apt-get install redis-server`)",
    );
  }
}
