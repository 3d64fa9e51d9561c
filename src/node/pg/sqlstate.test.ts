// The table of SQLSTATEs, a test a row, and what a real server does with the connection.
import pg from "pg";
import { expect, it } from "vitest";
import { useDatabase } from "../../../test/lib/postgres.ts";
import { classify, failed } from "../../core/index.ts";
import { type Circumstances, connectFailure, failureOf, mark } from "./failure.ts";
import { SQLSTATES } from "./index.ts";
import { meaningOf } from "./sqlstate.ts";

const database = useDatabase();

const IN_TRANSACTION: Circumstances = { committed: false, final: false, lost: false, ended: undefined };
const FINAL: Circumstances = { ...IN_TRANSACTION, final: true };

/** What the server would have sent. */
function answer(code: string): Error {
  return Object.assign(new pg.DatabaseError("…", 1, "error"), { code, severity: "ERROR" });
}

// code, class, effect within a transaction, effect of a statement that ends one, whether the connection is kept
const ROWS = [
  ["40001", "transient", "none", "none", true],
  ["40P01", "transient", "none", "none", true],
  ["40002", "transient", "none", "none", true],
  ["57014", "transient", "none", "none", true],
  ["55006", "transient", "none", "none", true],
  ["55P03", "throttling", "none", "none", true],
  ["53300", "throttling", "none", "none", true],
  ["53200", "throttling", "none", "none", true],
  ["53000", "throttling", "none", "none", true],
  ["53100", "permanent", "none", "none", true],
  ["57P03", "throttling", "none", "none", true],
  ["08001", "transient", "none", "none", false],
  ["08004", "transient", "none", "none", false],
  ["08000", "transient", "unknown", "unknown", false],
  ["08003", "transient", "unknown", "unknown", false],
  ["08006", "transient", "unknown", "unknown", false],
  ["08007", "transient", "unknown", "unknown", false],
  ["40003", "transient", "unknown", "unknown", false],
  ["57P01", "transient", "none", "unknown", false],
  ["57P02", "transient", "none", "unknown", false],
  ["57P05", "transient", "none", "unknown", false],
  ["25P03", "transient", "none", "unknown", false],
  ["25P04", "transient", "none", "unknown", false],
  ["25006", "transient", "none", "none", false],
  ["25P02", "permanent", "none", "none", true],
  ["0A000", "permanent", "none", "none", true],
  ["22012", "permanent", "none", "none", true],
  ["23505", "permanent", "none", "none", true],
  ["23P01", "permanent", "none", "none", true],
  ["28P01", "permanent", "none", "none", true],
  ["3D000", "permanent", "none", "none", true],
  ["42P01", "permanent", "none", "none", true],
  ["54001", "permanent", "none", "none", true],
  ["57P04", "permanent", "none", "none", true],
  ["P0001", "permanent", "none", "none", true],
  ["XX000", "permanent", "none", "none", true],
  ["ZZ999", "unknown", "none", "none", true],
] as const;

it.each(ROWS)(
  "%s: %s, effect %s or, at the end of a transaction, %s; kept: %s",
  (code, kind, within, atEnd, kept) => {
    expect(failureOf(answer(code), IN_TRANSACTION)).toMatchObject({ class: kind, effect: within });
    expect(failureOf(answer(code), FINAL)).toMatchObject({ class: kind, effect: atEnd });
    expect(failureOf(answer(code), { ...IN_TRANSACTION, committed: true }).effect).toBe("unknown");
    expect(meaningOf(code).keep).toBe(kept);
  },
);

it("has a row for every line of the table", () => {
  const tested = new Set(ROWS.flatMap(([code]) => [code, code.slice(0, 2)]));
  expect(Object.keys(SQLSTATES).filter((code) => !tested.has(code))).toEqual([]);
});

it.each([
  ["28P01", "permanent", "never"],
  ["3D000", "permanent", "never"],
  ["53300", "throttling", undefined],
  ["57P03", "throttling", undefined],
  ["08001", "transient", undefined],
])("%s while connecting: %s, and certainly nothing was sent", (code, kind, pushback) => {
  expect(connectFailure(answer(code))).toMatchObject({ class: kind, effect: "none", ended: "unsent" });
  expect(connectFailure(answer(code)).pushback).toBe(pushback);
});

it("knows the server's word from a code of Node's", () => {
  const broken = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  expect(failureOf(broken, { ...FINAL, lost: true })).toEqual({ class: "transient", effect: "unknown" });
  expect(failureOf(broken, { ...IN_TRANSACTION, lost: true })).toEqual({
    class: "transient",
    effect: "none",
  });
  expect(failureOf(new TypeError("a value"), FINAL)).toEqual({ class: "permanent", effect: "unknown" });
  expect(connectFailure(broken)).toEqual({ class: "transient", effect: "none", ended: "unsent" });
});

it("marks pg's own error, and leaves it what it is", () => {
  const error = answer("23505");
  const before = JSON.stringify(error);
  expect(mark(error, failureOf(error, FINAL))).toBe(error);
  expect(JSON.stringify(error)).toBe(before);
  expect(classify({ error: new Error("wrapped", { cause: error }) })).toMatchObject({ class: "permanent" });
  mark(error, { class: "transient", effect: "none" });
  expect(classify({ error })).toEqual(failed(error, "transient", { effect: "none" }));
  expect(mark("a text", { class: "transient", effect: "none" })).toBe("a text");
});

it.each([
  ["select 1/0", "22012", "permanent"],
  ["select no_such", "42703", "permanent"],
  ["do $$ begin raise exception 'no' using errcode = '40001'; end $$", "40001", "transient"],
  ["do $$ begin raise exception 'no' using errcode = '53200'; end $$", "53200", "throttling"],
  ["begin; select 1/0", "22012", "permanent"],
])("%s costs no connection: %s is %s", async (text, code, kind) => {
  const db = database.open({ size: 1 });
  const ask = db.operation("ask", { attemptTimeoutMs: 60_000 });
  await db.warmUp();
  const before = await database.backends();
  for (let n = 0; n < 3; n++) {
    const outcome = await ask.outcome((connection) => connection.query(text));
    expect(outcome).toMatchObject({ class: kind, effect: "none", error: { code } });
  }
  expect(await ask(async (connection) => (await connection.query("select 1 as one")).rows)).toEqual([
    { one: 1 },
  ]);
  expect((await database.backends()).map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid));
  expect(db.stats.destroyed).toBe(0);
});
