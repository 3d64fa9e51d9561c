/** What the work of a guarded operation is given: a connection, for as long as the work lasts. */
import type { QueryArrayConfig, QueryArrayResult, QueryConfig, QueryResult, QueryResultRow } from "pg";
import { checkBoolean, checkFunction, checkKeys, checkOneOf } from "../../core/options.ts";
import type { Lease } from "./lease.ts";
import { RolledBackError } from "./rolled-back.ts";
import { type Query, unsendable } from "./statement.ts";

/** What a transaction is to be like. What is left out is as the server has it. */
export interface TransactionOptions {
  /** How far it is kept from others. Default: the server's own, mostly `read committed`. */
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  /** Whether it may only read. Default: the server's own, mostly not. */
  readonly readOnly?: boolean;
}

const ISOLATIONS = ["read committed", "repeatable read", "serializable"] as const;

/** A connection to the database, lent to one attempt: usable until its work has ended or is given up. */
export interface Connection {
  /**
   * Sends a statement, as pg does, with the time left as its limit. Several at once are sent at once and answered in
   * order. Rejects with pg's own error. Cursors, streams and callbacks are not for a guarded connection.
   */
  query<R extends unknown[]>(query: QueryArrayConfig<unknown[]>): Promise<QueryArrayResult<R>>;
  query<R extends QueryResultRow = QueryResultRow>(
    query: string | QueryConfig<unknown[]>,
    values?: unknown[],
  ): Promise<QueryResult<R>>;
  /**
   * Runs `work` in a transaction: COMMIT when it resolves, ROLLBACK when it rejects. The work uses the connection that
   * it is given. A COMMIT that the server answers by a rollback is an error.
   */
  transaction<T>(
    work: (transaction: Connection) => T | PromiseLike<T>,
    options?: TransactionOptions,
  ): Promise<T>;
}

/** The handle of a lease, or of a transaction in it. */
export class Handle implements Connection {
  readonly inTransaction: boolean;
  private readonly lease: Lease;

  constructor(lease: Lease, inTransaction: boolean) {
    this.lease = lease;
    this.inTransaction = inTransaction;
  }

  query(query: Query, values?: unknown[]): Promise<never> {
    const wrong = unsendable(query, values);
    if (wrong !== null) return Promise.reject(wrong);
    return this.lease.send(this, query, values) as Promise<never>;
  }

  async transaction<T>(
    work: (transaction: Connection) => T | PromiseLike<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    checkFunction("transaction.work", work);
    if (this.inTransaction) throw new Error("a transaction cannot be begun within a transaction");
    const { lease } = this;
    // Awaited: behind a BEGIN that fails, the first statement would be permanent by itself.
    await lease.send(this, begin(options), undefined);
    const inner = new Handle(lease, true);
    lease.enter(this, inner);
    try {
      const value = await work(inner);
      await lease.drained();
      const ended = (await lease.send(inner, "COMMIT", undefined)) as QueryResult;
      if (ended.command !== "COMMIT") throw new RolledBackError();
      return value;
    } catch (error) {
      if (lease.active === inner) await lease.rollback();
      throw error;
    } finally {
      if (lease.active === inner) lease.active = this;
    }
  }
}

function begin(options: TransactionOptions): string {
  checkKeys("transaction", options, ["isolation", "readOnly"]);
  const { isolation, readOnly } = options;
  let text = "BEGIN";
  if (isolation !== undefined) {
    text += ` ISOLATION LEVEL ${checkOneOf("transaction.isolation", isolation, ISOLATIONS)}`;
  }
  if (readOnly !== undefined) {
    text += checkBoolean("transaction.readOnly", readOnly) ? " READ ONLY" : " READ WRITE";
  }
  return text;
}
