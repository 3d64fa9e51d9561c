/**
 * One connection to the server, for as long as it lives: what is known about it beyond what pg knows.
 *
 * pg tells a dead connection only by an event, which would end the process if nobody listened: it is heard from the
 * first moment to the last.
 */
import type { PoolClient } from "pg";
import { Timeouts } from "./timeouts.ts";

/** What pg keeps to itself: the key with which a query is cancelled, and whether the last reply is complete. */
interface Inner {
  readonly processID: number;
  readonly secretKey: number;
  readonly readyForQuery?: boolean;
}

/** A connection. */
export class Session {
  readonly client: PoolClient;
  readonly timeouts: Timeouts = new Timeouts();
  /** Statements sent and not answered. */
  pending = 0;
  /** Those among them that end a transaction: they are not cancelled. */
  ending = 0;
  /** Whether it must not be lent out again. */
  doubtful = false;
  /** Whether it has ended. */
  lost = false;
  /** The attempt that has it at present. */
  lease: { end(): void } | null = null;
  private waiting: (() => void)[] = [];

  constructor(client: PoolClient) {
    this.client = client;
    const gone = (): void => {
      this.lost = true;
      this.doubtful = true;
      this.wake();
    };
    client.on("error", gone);
    client.on("end", gone);
  }

  get inner(): Inner {
    return this.client as unknown as Inner;
  }

  /** Whether no transaction is open, as far as the last complete reply says. */
  get idle(): boolean {
    return this.client.getTransactionStatus() === "I";
  }

  /** Whether nothing is on its way and no transaction is open, for certain. */
  get clean(): boolean {
    return this.pending === 0 && !this.doubtful && this.inner.readyForQuery === true && this.idle;
  }

  /** A statement was answered. */
  answered(): void {
    if (--this.pending === 0) this.wake();
  }

  /** Goes on with whoever waits in `change`. */
  wake(): void {
    if (this.waiting.length === 0) return;
    const waiting = this.waiting;
    this.waiting = [];
    for (const wake of waiting) wake();
  }

  /** Waits until all is answered, the connection is lost, or somebody calls `wake`. */
  change(): Promise<void> {
    return new Promise((done) => void this.waiting.push(done));
  }

  /** Sends a statement of our own. Resolves with its error, or null. */
  ask(text: string): Promise<Error | null> {
    return new Promise((done) => this.client.query(text, (error: Error | null) => done(error)));
  }

  /** Ends the connection now, whatever is on its way. */
  destroy(): void {
    this.doubtful = true;
    this.client.connection.stream.destroy();
  }
}
