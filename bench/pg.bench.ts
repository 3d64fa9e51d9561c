/**
 * `npm run bench -- pg [--json] [--rounds N] [--postgres URL]`: what a guarded pool costs beside bare `pg`.
 *
 * The same read of one row by its key, by a named prepared statement, on pools of the same size: `pool.query` of bare
 * pg, once with its client in pipeline mode (which the guarded pool always uses) and once without; and a guarded
 * operation with a timeout, a retry, a breaker and a queue. 8 callers (as many as connections) and 64 (who wait). The
 * subjects take turns in short runs, each round in another order, so that a slow moment of the machine meets all of
 * them; the ratio is the median of the ratios within a round.
 */
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { guardedPool } from "plimsoll/pg";

const SIZE = 8;
const CALLERS = [8, 64];
const ROWS = 10_000;
const WARM_MS = 500;
const RUN_MS = 400;

type Ask = (id: number) => Promise<{ rows: unknown[] }>;

interface Subject {
  readonly name: string;
  readonly ask: Ask;
  end(): Promise<void>;
}

const query = (id: number) => ({
  name: "by-id",
  text: "select left_over from bench_stock where id = $1",
  values: [id],
});

function bare(name: string, url: string, pipeline: boolean): Subject {
  const pool = new pg.Pool({ connectionString: url, max: SIZE, pipeline });
  return { name, ask: (id) => pool.query(query(id)), end: () => pool.end() };
}

function guarded(url: string): Subject {
  const db = guardedPool({
    name: "stock-db",
    connection: { connectionString: url },
    size: SIZE,
    queue: { maxWaiting: 1_000, maxWaitMs: 10_000 },
  });
  const view = db.operation("view", {
    idempotent: true,
    attemptTimeoutMs: 5_000,
    retry: { attempts: 2 },
    breaker: { window: { calls: 20 }, failureRate: 0.5, openMs: 5_000 },
  });
  return {
    name: "guarded",
    ask: (id) => view((connection) => connection.query(query(id))),
    end: () => db.end(),
  };
}

/** Queries a second with so many callers, each with one at a time. */
async function run({ ask }: Subject, callers: number, ms: number): Promise<number> {
  let answers = 0;
  const until = performance.now() + ms;
  const caller = async (id: number): Promise<void> => {
    while (performance.now() < until) {
      const { rows } = await ask(1 + ((id * 7919 + answers) % ROWS));
      if (rows.length !== 1) throw new Error("not one row");
      answers++;
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, (_, id) => caller(id)));
  return answers / ((performance.now() - startedAt) / 1_000);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

interface Row {
  readonly callers: number;
  readonly subject: string;
  readonly perSecond: number;
  /** Against bare pg in the same mode; 1 is as fast. */
  readonly ratio: number;
}

async function measure(url: string, rounds: number): Promise<Row[]> {
  const subjects = [bare("bare, pipeline", url, true), bare("bare", url, false), guarded(url)];
  const rows: Row[] = [];
  for (const callers of CALLERS) {
    for (const subject of subjects) await run(subject, callers, WARM_MS);
    const rates = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      process.stderr.write(`${callers} callers, round ${round + 1} of ${rounds}\n`);
      for (let turn = 0; turn < subjects.length; turn++) {
        const subject = subjects[(round + turn) % subjects.length] as Subject;
        rates.get(subject.name)?.push(await run(subject, callers, RUN_MS));
      }
    }
    const base = rates.get("bare, pipeline") as number[];
    for (const [subject, all] of rates) {
      const ratio = median(all.map((rate, round) => rate / (base[round] as number)));
      rows.push({ callers, subject, perSecond: Math.round(median(all)), ratio });
    }
  }
  for (const subject of subjects) await subject.end();
  return rows;
}

async function prepare(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create table if not exists bench_stock (id int primary key, left_over int)");
  await client.query(
    "insert into bench_stock select n, 5 from generate_series(1, $1) n on conflict do nothing",
    [ROWS],
  );
  await client.query("analyze bench_stock");
  await client.end();
}

/** The shop's own server, by the shop's own launcher, in a process of its own. */
async function ownServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const path = fileURLToPath(new URL("../../shop/dist/database/server.js", import.meta.url));
  const { startPostgres } = (await import(path)) as {
    startPostgres(): Promise<{ url: string; stop(): Promise<void> }>;
  };
  return startPostgres();
}

function argument(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

const given = argument("--postgres");
const server = given === undefined ? await ownServer() : { url: given, stop: async () => {} };
try {
  await prepare(server.url);
  const rows = await measure(server.url, Number(argument("--rounds") ?? 15));
  if (process.argv.includes("--json")) console.log(JSON.stringify({ load: loadavg()[0], rows }));
  else {
    console.log(`Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}; ${SIZE} connections\n`);
    for (const { callers, subject, perSecond, ratio } of rows) {
      const share = `${(100 * ratio).toFixed(1)} % of bare, pipeline`;
      console.log(`${callers} callers   ${subject.padEnd(15)} ${String(perSecond).padStart(6)}/s   ${share}`);
    }
  }
} finally {
  await server.stop();
}
