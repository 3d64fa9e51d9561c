/**
 * stock: places in front of a few connections to its database. A view is one query, a reserve is one transaction.
 * The connections, the wait for one and the guards of the edge are `plimsoll/pg`'s, as the system file says.
 */
import { type Attempt, type ClassifiedError, FAILURE } from "plimsoll";
import { type Connection, type GuardedPool, guardedPool, type PgOperation } from "plimsoll/pg";
import { bindEdge, bindQueue, type SystemFile } from "plimsoll/system";
import { BOUND, ITEMS, RESERVE, VIEW, WAIT } from "../database/schema.ts";
import { clientOptions } from "../database/tables.ts";
import { isKeyed, systemFor } from "../plan.ts";
import { type Orders, play, type Ready, type Report, type Role } from "../process.ts";
import { Seconds } from "../seconds.ts";
import { type Answer, type Incoming, open, type Service, unavailable } from "../service.ts";
import { Notes } from "../trace.ts";

/** One checkout for so many carts, when stock's work is measured: as the load has them. */
const VIEWS_PER_RESERVE = 20;

/** A piece of stock's work for an action. `look` is done first, where the work itself will be done. */
type Piece = (connection: Connection, attempt: Attempt, action: string, look: Look) => Promise<unknown>;

/** Asks the database what bounds a statement, if somebody wants to know. */
type Look = (connection: Connection) => Promise<void>;

const view: Piece = async (connection, _, action, look) => {
  await look(connection);
  await connection.query({ ...VIEW, values: [itemOf(action)] });
};

/**
 * A COMMIT is not begun when its answer would come too late: a caller that has given up reserves once more. With the
 * margin it is late only if the way back takes longer than was measured. What is certain even then is a key that is
 * looked up: the attempt that comes again finds what the first has done.
 */
function reserveWithin(marginMs: number, keyed: boolean): Piece {
  return (connection, attempt, action, look) =>
    connection.transaction(async (transaction) => {
      await look(transaction);
      await transaction.query(WAIT);
      await transaction.query({ ...RESERVE, values: [itemOf(action), action, keyed ? action : null] });
      if (attempt.timeLeftMs < marginMs) throw new TooLateError();
    });
}

/** There is no time left for a COMMIT and its answer: the transaction is rolled back. */
class TooLateError extends Error implements ClassifiedError {
  override readonly name = "TooLateError";
  readonly [FAILURE]: ClassifiedError[typeof FAILURE] = {
    class: "transient",
    effect: "none",
    ended: "clipped",
  };
}

const unseen: Look = async () => {};

function itemOf(action: string): number {
  return (Number(action) || 0) % ITEMS;
}

class Stock implements Role {
  #seconds: Seconds | null = null;
  readonly #notes = new Notes();
  #db!: GuardedPool;
  #size = 0;
  #reserve!: Piece;
  #service!: Service;

  async prepare({ plan, database, port }: Orders): Promise<Ready> {
    if (database === undefined) throw new Error("stock needs a database");
    const system = systemFor(plan);
    const { places = 1, queue } = system.services.database ?? {};
    const { dependency, wire } = bindEdge(system, "stock", "database");
    this.#size = places;
    this.#reserve = reserveWithin(wire.marginMs ?? 0, isKeyed(plan));
    this.#db = guardedPool({
      ...dependency,
      connection: clientOptions(database),
      size: places,
      ...(queue !== undefined && { queue: bindQueue(queue) }),
      marginMs: wire.marginMs ?? 0,
    });
    await this.#db.warmUp();
    this.#service = await this.#open(system, port);
    return { port: this.#service.port };
  }

  /** Does pieces of work on all connections at once, one after the other on each. */
  async measure(pieces: number): Promise<number> {
    const work = this.#db.operation("measure", {});
    let left = pieces;
    const from = performance.now();
    const worker = async (): Promise<void> => {
      for (let n = left--; n > 0; n = left--) {
        const piece = n % VIEWS_PER_RESERVE === 0 ? this.#reserve : view;
        await work((connection, attempt) => piece(connection, attempt, `measure ${from} ${n}`, unseen));
      }
    };
    await Promise.all(Array.from({ length: this.#size }, worker));
    return ((performance.now() - from) * this.#size) / pieces;
  }

  begin(zeroAtMs: number): void {
    this.#notes.zeroAtMs = zeroAtMs;
    this.#seconds = new Seconds(zeroAtMs);
    const { bulkhead } = this.#service;
    this.#seconds.sample(() => ({
      insideStock: bulkhead.gate.held + bulkhead.waiting,
      waitingForConnection: this.#db.bulkhead.waiting,
    }));
  }

  async end(): Promise<Report> {
    const { all = [], vitals } = this.#seconds ?? {};
    return { seconds: all, vitals: vitals?.all ?? [], steps: this.#notes.steps };
  }

  #open(system: SystemFile, port: number | undefined): Promise<Service> {
    const { operations, wire } = bindEdge(system, "stock", "database");
    const final = wire.unavailable === "final";
    const read = this.#db.operation("read", operations.read);
    const commit = this.#db.operation("commit", operations.commit);
    return open(
      system,
      { name: "stock", caller: "shop-api", port },
      {
        "/view": (incoming) => this.#serve(incoming, read, view, final),
        "/reserve": (incoming) => this.#serve(incoming, commit, this.#reserve, final),
      },
    );
  }

  async #serve(incoming: Incoming, operation: PgOperation, piece: Piece, final: boolean): Promise<Answer> {
    const { trace, arrivedAt, leftMs, action } = incoming;
    const note = `waited ${(performance.now() - arrivedAt).toFixed(1)} ms for a place`;
    this.#notes.add(trace, { hop: "stock", what: "arrived", leftMs, note }, arrivedAt);
    const asked = performance.now();
    const outcome = await operation.outcome(async (connection, attempt) => {
      this.#noteSent(trace, attempt, performance.now() - asked);
      const from = performance.now();
      const look: Look = trace === undefined ? unseen : (own) => this.#look(own, trace);
      await piece(connection, attempt, action, look);
      this.#finished(performance.now() - from);
    });
    const answer: Answer = outcome.kind === "ok" ? { status: 200, body: {} } : unavailable(final);
    const how = outcome.kind === "failed" ? `${outcome.ended}: ${outcome.error}` : outcome.kind;
    this.#notes.add(trace, {
      hop: "stock",
      what: "ended",
      leftMs: arrivedAt + leftMs - performance.now(),
      note: how,
    });
    return answer;
  }

  #noteSent(trace: string | undefined, { number, timeLeftMs }: Attempt, waitedMs: number): void {
    const note = `waited ${waitedMs.toFixed(1)} ms for a connection`;
    const leftMs = timeLeftMs;
    this.#notes.add(trace, { hop: "stock", what: "sent", to: "database", attempt: number, leftMs, note });
  }

  /** Notes what the database itself says that bounds a statement now. */
  async #look(connection: Connection, trace: string): Promise<void> {
    const { rows } = await connection.query<{ bound: number }>(BOUND);
    const ms = Number(rows[0]?.bound);
    const note = ms > 0 ? `statement_timeout ${ms} ms` : "no statement_timeout";
    this.#notes.add(trace, { hop: "database", what: "arrived", leftMs: ms > 0 ? ms : Infinity, note });
  }

  #finished(tookMs: number): void {
    this.#seconds?.add("dbFinished");
    this.#seconds?.add("workMs", tookMs);
  }
}

play(new Stock());
