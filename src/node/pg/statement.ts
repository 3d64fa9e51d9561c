/** Statements: what may be sent, and what is noted of it. */
import pg, { type QueryArrayConfig, type QueryConfig } from "pg";

/** What is sent: text, or pg's own description of a query. */
export type Query = string | QueryConfig<unknown[]> | QueryArrayConfig<unknown[]>;

/** What is noted of a statement when it is sent. */
export class Sent {
  readonly at: number;
  readonly limitMs: number;
  /** Whether it ends a transaction. */
  readonly ends: boolean;
  readonly inTransaction: boolean;

  constructor(at: number, limitMs: number, ends: boolean, inTransaction: boolean) {
    this.at = at;
    this.limitMs = limitMs;
    this.ends = ends;
    this.inTransaction = inTransaction;
  }
}

const ENDS = /^\s*(?:commit|end|prepare\s+transaction)\b/i;

/** Whether a statement ends a transaction for good. */
export function endsTransaction(query: Query): boolean {
  return ENDS.test(typeof query === "string" ? query : query.text);
}

/**
 * A named statement as pg's own object, or null for what is more than that. pg copies a description property by
 * property, which costs as much as all guards together (3 µs); its own object it takes as it is.
 */
export function namedQuery(
  query: Query,
  values: unknown[] | undefined,
  done: (...of: never) => void,
): pg.Query | null {
  if (typeof query === "string") return null;
  const { name, text, rowMode, types, queryMode, binary } = query as QueryConfig & Record<string, unknown>;
  if (name === undefined || (rowMode ?? types ?? queryMode ?? binary) !== undefined) return null;
  const statement: pg.Query & { name?: string } = new pg.Query(text, values ?? query.values, done as never);
  statement.name = name;
  return statement;
}

/** What cannot be sent here: a cursor would outlive its answer, and a callback its attempt. */
export function unsendable(query: unknown, values: unknown): TypeError | null {
  if (typeof query === "string") {
    return values === undefined || Array.isArray(values)
      ? null
      : new TypeError("the values must be an array");
  }
  if (typeof query !== "object" || query === null)
    return new TypeError("a query is a text or an object with one");
  const { submit, text, rows, callback } = query as Record<string, unknown>;
  if (typeof submit === "function" || rows !== undefined) {
    return new TypeError("cursors and streams outlive their answer: use a client of bare pg");
  }
  if (typeof callback === "function") return new TypeError("no callbacks: query() gives a promise");
  return typeof text === "string" ? null : new TypeError("a query has a text");
}
