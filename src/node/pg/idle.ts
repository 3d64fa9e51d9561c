/**
 * Closes connections that nobody has needed for a while.
 *
 * pg's pool would set a timer each time that a connection is given back, which is a good part of what a call costs
 * here. This looks once in a period instead: as many connections as were idle at *every* moment of it were not needed,
 * and are closed. So one is closed between one and two periods after its last use.
 */
import type { Pool } from "pg";
import type { Runtime, Timer } from "../../core/runtime.ts";

/** Watches the idle connections of a pool. */
export class IdleWatch {
  private readonly pool: Pool;
  private readonly runtime: Runtime;
  private readonly periodMs: number;
  private timer: Timer | null = null;
  /** The fewest that were idle at once in this period. */
  private fewest = 0;

  /** A period of 0 ms: connections are kept for ever. */
  constructor(pool: Pool, runtime: Runtime, periodMs: number) {
    this.pool = pool;
    this.runtime = runtime;
    this.periodMs = periodMs;
  }

  /** There is a connection. */
  start(): void {
    if (this.timer !== null || this.periodMs === 0 || this.pool.ending) return;
    this.fewest = 0;
    this.timer = this.runtime.after(this.periodMs, () => this.look());
  }

  /** One more is about to be taken. */
  taken(): void {
    const { idleCount, waitingCount } = this.pool; // those that wait have theirs in this very tick
    const left = idleCount - waitingCount - 1;
    if (left < this.fewest) this.fewest = Math.max(0, left);
  }

  /** The pool is closed. */
  stop(): void {
    if (this.timer !== null) this.runtime.cancel(this.timer);
  }

  private look(): void {
    this.timer = null;
    if (this.pool.ending || this.pool.totalCount === 0) return;
    for (let left = Math.min(this.fewest, this.pool.idleCount); left > 0; left--) this.close();
    this.start();
    this.fewest = this.pool.idleCount;
  }

  private close(): void {
    this.pool.connect((error, client) => {
      if (error === undefined) client?.release(true);
    });
  }
}
