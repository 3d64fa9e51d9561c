/**
 * One attempt's use of one connection: taken out of the pool, handed to the work, given back.
 *
 * The attempt's place is what entitles to a connection, so places = connections and the pool never queues. Given back
 * is only what is clean for certain. Otherwise the attempt is held, with its place, until the connection has been
 * settled or closed; its answer waits for that only if nothing is on its way any more. An attempt that is given up has
 * its queries cancelled.
 */
import type { QueryResult } from "pg";
import type { Attempt } from "../../core/attempt.ts";
import { endOf } from "../end-of.ts";
import { type Connection, Handle } from "./connection.ts";
import { failureOf, mark, sqlStateOf, tooLate } from "./failure.ts";
import type { Places } from "./places.ts";
import type { Session } from "./session.ts";
import { Settlement } from "./settlement.ts";
import { meaningOf } from "./sqlstate.ts";
import { endsTransaction, namedQuery, type Query, Sent } from "./statement.ts";

/** What a guarded operation runs: your function, with a connection. */
export type PgWork<T> = (connection: Connection, attempt: Attempt) => T | PromiseLike<T>;

type Answer = QueryResult | QueryResult[];

/** Statements after which the session's settings may be others than we have set. */
const SETS = new Set(["ROLLBACK", "SET", "RESET", "DISCARD"]);

/** Runs the work with a connection, and gives it back when the work has ended or was given up, whichever is first. */
export async function lend<T>(places: Places, attempt: Attempt, work: PgWork<T>): Promise<T> {
  const session = await places.connect();
  // Given up while it was connected: the connection is sound, and somebody else's.
  if (attempt.state !== "sent" || places.forced) {
    await places.giveBack(session, session.clean);
    throw new Error("the attempt was given up while it was being connected");
  }
  const lease = new Lease(places, attempt, session);
  try {
    return await work(lease.begin(), attempt);
  } finally {
    const settled = lease.ended();
    if (settled !== null) await settled;
  }
}

/** A connection in the hands of an attempt. */
export class Lease {
  /** The handle that may send at present: the work's, its transaction's, or none any more. */
  active: Handle | null = null;
  private readonly places: Places;
  private readonly attempt: Attempt;
  private readonly session: Session;
  /** What was promised since nothing was on its way. */
  private readonly answers: Promise<Answer>[] = [];
  private settlement: Settlement | null = null;
  private gone = false;
  /** Whether something was made permanent. */
  private committed = false;
  /** Why the attempt was given up. */
  private reason: unknown = undefined;

  constructor(places: Places, attempt: Attempt, session: Session) {
    this.places = places;
    this.attempt = attempt;
    this.session = session;
  }

  /** Whether the attempt was given up. */
  get aborted(): boolean {
    return this.reason !== undefined;
  }

  /** The work's connection, until the attempt is given up or `ended` is called. */
  begin(): Handle {
    const handle = new Handle(this, false);
    this.active = handle;
    this.session.lease = this;
    this.attempt.onAbort((reason) => this.abort(reason));
    return handle;
  }

  /** The work has ended. Null if the connection was given back at once; else the answer waits for what is returned. */
  ended(): Promise<void> | null {
    this.active = null;
    const settled = this.giveBack();
    // A round trip at most, if nothing is on its way: whoever hears the answer then finds the place free.
    return this.session.pending === 0 ? settled : null;
  }

  /** Sends a statement for `handle`. */
  send(handle: Handle, query: Query, values: unknown[] | undefined): Promise<Answer> {
    if (this.active !== handle) return Promise.reject(this.notUsable(handle));
    const { attempt, places, session } = this;
    const sentAt = attempt.runtime.now();
    const leftMs = attempt.deadline - sentAt;
    if (leftMs <= 0) return Promise.reject(tooLate(attempt, this.committed));
    const prefix = session.timeouts.change(leftMs - places.marginMs, places.lockTimeoutMs);
    const sent = new Sent(sentAt, session.timeouts.limitMs, endsTransaction(query), handle.inTransaction);
    if (session.pending === 0 && this.answers.length > 0) this.answers.length = 0;
    const answer = new Promise<Answer>((resolve, reject) => {
      if (prefix === null) return this.dispatch(query, values, sent, resolve, reject);
      const { stream } = session.client.connection;
      stream.cork(); // both in one write
      this.set(prefix);
      this.dispatch(query, values, sent, resolve, reject);
      stream.uncork();
    }).catch(throwFromHere);
    this.answers.push(answer);
    return answer;
  }

  /** From now on `inner` may send, instead of `outer`: a transaction has begun. */
  enter(outer: Handle, inner: Handle): void {
    if (this.active !== outer) throw this.notUsable(outer);
    this.active = inner;
  }

  /** Undoes what is open, for a transaction that failed while its attempt goes on. */
  async rollback(): Promise<void> {
    const { session } = this;
    session.timeouts.forget();
    const error = await session.ask("ROLLBACK");
    if (error !== null) session.doubtful = true;
  }

  /** Waits until all that was sent is answered. */
  async drained(): Promise<void> {
    if (this.session.pending > 0) await this.session.change();
  }

  /** Stops what it does and takes the connection back: the pool is being closed. */
  end(): void {
    this.abort(new Error("the pool was closed while the work went on"));
  }

  private set(prefix: string): void {
    const { session } = this;
    session.pending++;
    session.client.query(prefix, (error: Error | null) => {
      // Unknown is what it has now: the old one, if a cancel has hit it, or none of ours.
      if (error !== null) session.timeouts.forget();
      session.answered();
    });
  }

  private dispatch(
    query: Query,
    values: unknown[] | undefined,
    sent: Sent,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
  ): void {
    const { session } = this;
    session.pending++;
    if (sent.ends) session.ending++;
    let open = true;
    const done = (error: Error | null, answer: Answer): void => {
      if (!open) return; // pg reports a value that it cannot send, and then the end of the statement
      open = false;
      if (sent.ends) session.ending--;
      if (error === null) this.succeeded(answer);
      else this.failed(error, sent);
      session.answered();
      if (error === null) resolve(answer);
      else reject(error);
    };
    try {
      const named = namedQuery(query, values, done);
      if (named !== null) session.client.query(named);
      else session.client.query(query as string, values as unknown[], done as never);
    } catch (error) {
      done(error as Error, []);
    }
  }

  private succeeded(answer: Answer): void {
    const { session } = this;
    const tags = Array.isArray(answer) ? answer.map(({ command }) => command) : [answer.command];
    if (tags.some((tag) => SETS.has(tag))) session.timeouts.forget();
    else if (session.client.getTransactionStatus() === "I") this.committed = true;
  }

  private failed(error: Error, sent: Sent): void {
    const { attempt, session } = this;
    const code = sqlStateOf(error);
    if (code === undefined || !meaningOf(code).keep) session.doubtful = true;
    session.timeouts.forget();
    const tookMs = attempt.runtime.now() - sent.at;
    // A limit of ours, if nobody has cancelled and it has had the time. The message is in the server's language.
    const ours = code === "57014" && !this.aborted && tookMs >= sent.limitMs;
    mark(
      error,
      failureOf(error, {
        committed: this.committed,
        final: sent.ends || !sent.inTransaction,
        lost: session.lost,
        ended: ours ? endOf(attempt) : undefined,
      }),
    );
  }

  /** The attempt was given up: its connection is settled at once, whatever the work still does. */
  private abort(reason: unknown): void {
    this.reason = reason ?? new Error("the attempt was given up");
    this.active = null;
    // Their errors are of our making: where nobody waits for them, they are no fault of the program.
    for (const answer of this.answers) answer.catch(() => {});
    void this.giveBack();
    this.settlement?.stop();
  }

  /** Gives the connection back, at once if it is clean: null. */
  private giveBack(): Promise<void> | null {
    if (this.gone) return null;
    this.gone = true;
    const { session } = this;
    if (!session.clean || this.aborted) return this.settle(this.attempt.hold());
    void this.places.giveBack(session, true);
    return null;
  }

  private async settle(release: () => void): Promise<void> {
    const { attempt, places, session } = this;
    this.settlement = new Settlement(session, attempt.runtime, places.cancelTimeoutMs, places.countCancel);
    if (this.aborted) this.settlement.stop();
    const fit = await this.settlement.run().catch(() => false);
    await places.giveBack(session, fit);
    release();
  }

  private notUsable(handle: Handle): unknown {
    if (this.aborted) return this.reason;
    if (this.active !== null && !handle.inTransaction) {
      return new Error("a transaction is open: use the connection that its work was given");
    }
    return new Error(
      handle.inTransaction && !this.gone
        ? "the transaction has ended: its connection cannot be used any more"
        : "the work has ended: its connection belongs to somebody else by now",
    );
  }
}

/** pg's own errors begin their stack in a socket: this makes it lead back to who has asked. */
function throwFromHere(error: unknown): never {
  if (error instanceof Error) Error.captureStackTrace(error);
  throw error;
}
