// The launcher: a server of its own that survives its own end by SIGKILL, and leaves nothing behind however we end.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { type PostgresServer, startPostgres } from "./server.ts";

async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return (await client.query(text)).rows;
}

/** Where it keeps its data. */
async function folderOf({ url }: PostgresServer): Promise<string> {
  return String((await ask(url, "show data_directory"))[0]?.data_directory);
}

/** A process that has ended but that nobody has asked after yet runs no more. */
function runs(pid: number): boolean {
  const state = spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
  return state !== "" && !state.startsWith("Z");
}

it("takes settings, keeps what was committed when it is killed, and leaves nothing when it is stopped", async () => {
  const server = await startPostgres({ maxConnections: 7, settings: { statement_timeout: 1234 } });
  onTestFinished(() => server.stop());
  const { url, pid } = server;
  const folder = await folderOf(server);
  expect(await ask(url, "show max_connections")).toEqual([{ max_connections: "7" }]);
  expect(await ask(url, "show statement_timeout")).toEqual([{ statement_timeout: "1234ms" }]);
  expect(Number(new URL(url).port)).toBeLessThan(32_768);
  await ask(url, "create table kept as select 1 as one");
  await server.kill();
  expect([server.pid, runs(pid as number)]).toEqual([null, false]);
  await server.restart();
  expect(server.url).toBe(url);
  expect(await ask(url, "table kept")).toEqual([{ one: 1 }]);
  const last = server.pid as number;
  await server.stop();
  expect([runs(last), existsSync(folder)]).toEqual([false, false]);
});

/** A process that starts a server, says so, and ends when it is told to. */
const STARTER = `
  import { startPostgres } from ${JSON.stringify(new URL("../../dist/database/server.js", import.meta.url))};
  import pg from "pg";
  const { url, pid } = await startPostgres();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("show data_directory");
  process.on("message", () => process.exit(1));
  process.send({ pid, folder: rows[0].data_directory });
`;

it.each(["SIGKILL", "SIGTERM", "SIGINT", "exit"])("leaves nothing behind when we end by %s", async (end) => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", STARTER], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [{ pid, folder }] = (await once(child, "message")) as [{ pid: number; folder: string }];
  expect([runs(pid), existsSync(folder)]).toEqual([true, true]);
  if (end === "exit") child.send("exit");
  else child.kill(end as NodeJS.Signals);
  await once(child, "exit");
  while (runs(pid) || existsSync(folder)) await sleep(20);
});

it("uses a server by URL, and leaves it alone", async () => {
  const own = await startPostgres();
  onTestFinished(() => own.stop());
  const same = await startPostgres({ url: own.url });
  expect(same).toMatchObject({ url: own.url, pid: null });
  await expect(same.kill()).rejects.toThrow("not ours");
  await expect(same.restart()).rejects.toThrow("not ours");
  await same.stop();
  expect(await ask(own.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

it("says what to do where there is none", async () => {
  const url = "postgres://postgres:secret@127.0.0.1:1/postgres";
  const error = await startPostgres({ url }).catch((reason: Error) => reason);
  expect(String(error)).toMatch(
    /no PostgreSQL to be used at 127\.0\.0\.1:1: .*ECONNREFUSED.*pass another URL/,
  );
  expect(String(error)).not.toContain("secret");
  await expect(startPostgres({ settings: { no_such: 1 } })).rejects.toThrow(
    /no_such[\s\S]*PLIMSOLL_POSTGRES=URL/,
  );
});
