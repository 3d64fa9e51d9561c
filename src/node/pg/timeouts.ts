/**
 * The server's own limits, from the time an attempt has left: `statement_timeout` and `lock_timeout`.
 *
 * A setting costs a statement, so it is sent only when it has to change. Two things keep it mostly the same: times are
 * rounded down to a grid of 16 steps in each power of two (1 to 31 ms exactly, 32 to 62 by 2, 64 to 124 by 4, …), so
 * that the server stops at most 1/16 early; and what a session was told is remembered for as long as it certainly
 * holds. Invariant: what is remembered is what the session has; in doubt nothing is remembered.
 * Source of the two settings: PostgreSQL's manual, "Client Connection Defaults". The server is
 * the backstop of its client: it stops a little before the client gives up, so a late query needs no cancel.
 */

/** `DEFAULT`: whatever the role, the database or the connection string says. */
type Setting = number | "DEFAULT";

/** The longest that PostgreSQL takes, in ms. */
const LONGEST_MS = 2_147_483_647;

/** `ms` rounded down to the grid; 1 at least. */
export function onGrid(ms: number): number {
  const whole = Math.min(LONGEST_MS, Math.max(1, Math.floor(ms)));
  if (whole < 32) return whole;
  const step = 2 ** (27 - Math.clz32(whole));
  return whole - (whole % step);
}

/** The next smaller point of the grid; 1 at least. */
export function stepBelow(point: number): number {
  return onGrid(point - 1);
}

/** What one session has been told. */
export class Timeouts {
  /** The limit in force in ms, `Infinity` where ours is not in force; only for the query that was just sent. */
  limitMs: number = Infinity;
  private statement: Setting | null = "DEFAULT";
  private lock: Setting | null = "DEFAULT";

  /** Nothing is certain any more: a rollback may have undone it, or somebody has set it by hand. */
  forget(): void {
    this.statement = null;
    this.lock = null;
  }

  /**
   * The statement that makes the session end a query after `leftMs` and a wait for a lock after `lockMs` at most (both
   * may be `Infinity`), or null if that is so already. Assumes that it is sent.
   */
  change(leftMs: number, lockMs: number): string | null {
    this.limitMs = leftMs === Infinity ? Infinity : onGrid(leftMs);
    const statement = leftMs === Infinity ? "DEFAULT" : this.limitMs;
    const lock = lockMs === Infinity ? "DEFAULT" : lockLimit(lockMs, this.limitMs);
    if (statement === this.statement && lock === this.lock) return null;
    const parts: string[] = [];
    if (statement !== this.statement) parts.push(`SET statement_timeout TO ${statement}`);
    if (lock !== this.lock) parts.push(`SET lock_timeout TO ${lock}`);
    this.statement = statement;
    this.lock = lock;
    return parts.join(";");
  }
}

/** A step below the statement's, at most: the same time would always be reported as the statement's. */
function lockLimit(lockMs: number, statementMs: number): number {
  const own = Math.max(1, Math.floor(lockMs));
  return own < statementMs ? own : stepBelow(statementMs);
}
