/**
 * How many connections the server gives us: fewer than wanted, when others have taken them (53300).
 *
 * Each refusal lowers the ceiling to the connections that there are, 1 at least; after a time it rises by one, as a
 * try. A refusal doubles that time, and a try that came to a connection resets it. So a full server sees one attempt
 * in a while instead of a storm, and the pool grows back when there is room.
 *
 * Invariant: 1 ≤ limit ≤ size. Sources: additive growth, multiplicative patience, as in TCP; 1 s and 60 s are our
 * choice, a connection's price (some ms) being far below the first.
 */

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Counts how many connections may be tried. */
export class Ceiling {
  readonly size: number;
  limit: number;
  private waitMs = FIRST_WAIT_MS;
  private riseAt = Infinity;

  constructor(size: number) {
    this.size = size;
    this.limit = size;
  }

  /** Whether it is below what is wanted. */
  get low(): boolean {
    return this.limit < this.size;
  }

  /** The server has refused one more connection while there were `existing`. */
  refused(now: number, existing: number): void {
    if (existing >= this.limit) return; // the answer to a try that was overtaken by another refusal
    this.limit = Math.max(1, existing);
    this.riseAt = now + this.waitMs;
    this.waitMs = Math.min(LONGEST_WAIT_MS, this.waitMs * 2);
  }

  /** There are `existing` connections now: so many can be had. */
  connected(existing: number): void {
    if (existing < this.limit) return;
    this.limit = Math.min(this.size, existing);
    this.waitMs = FIRST_WAIT_MS;
  }

  /** Rises by one if it is time. Returns whether it has. */
  rise(now: number): boolean {
    if (now < this.riseAt || !this.low) return false;
    this.limit++;
    this.riseAt = now + this.waitMs;
    return true;
  }
}
