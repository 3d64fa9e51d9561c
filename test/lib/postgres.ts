// A database of its own for each test file, on the real server that the whole run shares.
import pg from "pg";
import { afterAll, beforeAll, expect, inject, onTestFinished } from "vitest";
import { type GuardedPool, type GuardedPoolOptions, guardedPool } from "../../src/node/pg/index.ts";
import { NodeRuntime } from "../../src/node/runtime.ts";
import { sleep } from "./http.ts";

/** The database of the present test file. */
export interface Database {
  /** Its URL. */
  readonly url: string;
  /** Asks it, past every pool. */
  ask<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** A guarded pool on it, ended with the test; nobody may ever have waited in the pool of pg. */
  open(options?: Partial<GuardedPoolOptions>): GuardedPool;
  /** The backends of pools of this name: their process, state and query. */
  backends(name?: string): Promise<Backend[]>;
  /** Waits until that many backends of the name are there. */
  untilBackends(count: number, name?: string): Promise<void>;
}

/** A connection, as the server sees it. */
export interface Backend {
  readonly pid: number;
  readonly state: string;
  readonly query: string;
}

/** The server's URL; starts it if this is the first to ask. */
export async function serverUrl(): Promise<string> {
  const response = await fetch(inject("postgresHost"));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

/** Makes a database for this file, dropped at its end. `schema` is run in it first. */
export function useDatabase(schema = ""): Database {
  const name = `test_${process.pid}_${Math.floor(Math.random() * 1e9)}`;
  let server = "";
  let url = "";
  let asker: pg.Pool;
  let pools = 0;
  beforeAll(async () => {
    server = await serverUrl();
    await once(server, `create database ${name}`);
    url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
    asker = new pg.Pool({ connectionString: url, max: 4, application_name: "asker" });
    asker.on("error", () => {});
    if (schema !== "") await asker.query(schema);
  });
  afterAll(async () => {
    await asker?.end();
    if (url !== "") await once(server, `drop database ${name} with (force)`);
  });
  const database: Database = {
    get url() {
      return url;
    },
    ask: async (text, values) => (await asker.query(text, values)).rows,
    open(options) {
      pools++;
      return openPool(url, options, async () => {
        if (--pools === 0) await database.untilBackends(0);
      });
    },
    backends: (of = "guarded") =>
      database.ask(
        `select pid, state, query from pg_stat_activity where application_name = $1 and datname = $2 order by pid`,
        [of, name],
      ),
    async untilBackends(count, of) {
      while ((await database.backends(of)).length !== count) await sleep(5);
    },
  };
  return database;
}

async function once(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

function openPool(
  url: string,
  options: Partial<GuardedPoolOptions> = {},
  gone: () => Promise<void>,
): GuardedPool {
  const { connection, ...rest } = options;
  const whole = {
    name: "db",
    size: 4,
    connection: { connectionString: url, application_name: "guarded", ...connection },
    ...rest,
  };
  const db = guardedPool(whole, new NodeRuntime());
  let waited = 0;
  const watch = setInterval(() => {
    waited = Math.max(waited, db.stats.waitingInPool);
  }, 1);
  onTestFinished(async () => {
    await db.end(0);
    clearInterval(watch);
    expect(waited).toBe(0);
    await gone();
  });
  return db;
}
