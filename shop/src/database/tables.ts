/**
 * The runner's own hand on the shop's tables: makes them, sets the storage's speed, counts what was committed twice.
 * Each time with a connection of its own, so that a server that was killed in the meantime is no trouble here.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import type { Connection } from "../process.ts";
import type { Counts } from "../seconds.ts";
import { CREATE, EXTRA_COMMITS } from "./schema.ts";

/** The client's options that find the tables of a connection. */
export function clientOptions({ url, schema }: Connection): pg.ClientConfig {
  return { connectionString: url, options: `-c search_path=${schema}` };
}

/** The tables of one run. */
export class Tables {
  readonly connection: Connection;
  /** How far the server's clock is ahead of ours, ms. */
  #aheadMs = 0;

  private constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Makes the tables on the server at `url`, in a schema that nobody else uses. */
  static async create(url: string): Promise<Tables> {
    const schema = `plimsoll_shop_${randomBytes(6).toString("hex")}`;
    const tables = new Tables({ url, schema });
    await tables.#run((client) => client.query(`create schema ${schema}`));
    await tables.#run((client) => client.query(CREATE));
    await tables.#readClock();
    return tables;
  }

  /** From now on a piece of the storage's work takes so long on average. */
  async setStorageMs(meanMs: number): Promise<void> {
    await this.#run((client) => client.query("update storage set mean_ms = $1", [meanMs]));
  }

  /** Forgets all reservations. */
  async forget(): Promise<void> {
    await this.#run((client) => client.query("truncate reservations"));
  }

  /** Checkouts that were committed twice, and commits beyond the first, by second after `zeroAtMs`. */
  async extraCommits(zeroAtMs: number): Promise<[number, Counts][]> {
    const { rows } = await this.#run((client) =>
      client.query<{ second: number; extra: number; duplicated: number }>(EXTRA_COMMITS, [
        zeroAtMs + this.#aheadMs,
      ]),
    );
    return rows.map(({ second, extra, duplicated }) => [
      second,
      { extraCommits: extra, duplicatedCheckouts: duplicated },
    ]);
  }

  /** Removes everything. */
  async drop(): Promise<void> {
    await this.#run((client) => client.query(`drop schema ${this.connection.schema} cascade`));
  }

  async #readClock(): Promise<void> {
    await this.#run(async (client) => {
      const sent = Date.now();
      const { rows } = await client.query<{ ms: number }>(
        "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
      );
      this.#aheadMs = (rows[0]?.ms ?? sent) - (sent + Date.now()) / 2;
    });
  }

  async #run<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(clientOptions(this.connection));
    client.on("error", () => {});
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }
}
