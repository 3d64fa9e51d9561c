/**
 * Makes a connection fit for its next borrower, or finds that it is not.
 *
 * A cancel hits the session, not the statement. So after one, three things must have happened before anybody else may
 * use the connection: the server has closed the cancel's own socket, hence has sent the signal; every statement has
 * been answered; and one round trip more is through, hence the signal has arrived. A cancel may also have hit the
 * statement before the one it was meant for: while there is no answer it is sent again. The end of a transaction
 * is never cancelled. What is not over by its time ends with the connection.
 * Why so much: returned at once, the connection lost its next borrower's query in 31 of 40 tries (measured).
 */
import type { Runtime, Timer } from "../../core/runtime.ts";
import { type Cancel, sendCancel } from "./cancel.ts";
import { sqlStateOf } from "./failure.ts";
import type { Session } from "./session.ts";

/** A cancel that changed nothing is sent again after this many ms, then after twice as long, … (our choice). */
const AGAIN_MS = 5;
/** A round trip that a late cancel has hit is made again; more often than this it is something else. */
const ROUND_TRIPS = 10;

/** Settles one connection, once. */
export class Settlement {
  private readonly session: Session;
  private readonly runtime: Runtime;
  private readonly limitMs: number;
  private cancelling = false;
  private cancel: Cancel | null = null;
  private limit: Timer | null = null;

  private readonly onCancel: () => void;

  constructor(session: Session, runtime: Runtime, limitMs: number, onCancel: () => void) {
    this.onCancel = onCancel;
    this.session = session;
    this.runtime = runtime;
    this.limitMs = limitMs;
  }

  /** Has what is on its way cancelled, from now on. */
  stop(): void {
    this.cancelling = true;
    this.session.wake();
  }

  /** Returns whether the connection may be lent out again. Takes no longer than its limit, once it has begun to act. */
  async run(): Promise<boolean> {
    const { session } = this;
    for (let againMs = AGAIN_MS; session.pending > 0 && !session.lost; againMs *= 2) {
      if (this.cancelling) await this.stopOnce(againMs);
      else await session.change();
    }
    const fit = !session.doubtful && (await this.roundTrip());
    if (this.limit !== null) this.runtime.cancel(this.limit);
    return fit;
  }

  private async stopOnce(againMs: number): Promise<void> {
    const { session } = this;
    this.arm();
    if (session.ending > 0) return session.change();
    this.cancel = sendCancel(session);
    this.onCancel();
    const delivery = await this.cancel.delivery;
    this.cancel = null;
    if (delivery === "unknown") session.destroy();
    if (session.pending === 0 || session.lost) return;
    const woken = session.change();
    this.runtime.after(againMs, () => session.wake());
    await woken;
  }

  private async roundTrip(): Promise<boolean> {
    const { session } = this;
    this.arm();
    for (let trips = 0; trips < ROUND_TRIPS; trips++) {
      const open = !session.idle;
      if (open) session.timeouts.forget();
      const error = await session.ask(open ? "ROLLBACK" : "");
      if (session.doubtful || (error !== null && sqlStateOf(error) !== "57014")) return false;
      // The status is that of the last complete reply: only a round trip shows what an error has left behind.
      if (error === null && session.idle) return true;
    }
    return false;
  }

  /** From now on there is an end to it. */
  private arm(): void {
    this.limit ??= this.runtime.after(this.limitMs, () => {
      this.session.destroy();
      this.cancel?.destroy();
    });
  }
}
