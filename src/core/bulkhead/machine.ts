/**
 * The gate of a bulkhead: a number of places, some of them held. Whoever holds one gives it back when its work has
 * truly ended, not when its answer was given.
 *
 * Invariant: 0 ≤ held; held ≤ limit unless the limit was lowered while they were held. Size it by Little's law: calls
 * a second × P99 in seconds × headroom. Sources: the Basketly page, Part 8; the resilience notes, §07.
 */
import { checkNumber } from "../options.ts";

/** Counts places. */
export class Gate {
  #limit: number;
  #held = 0;

  constructor(limit: number, field = "limit") {
    this.#limit = checkLimit(limit, field);
  }

  get limit(): number {
    return this.#limit;
  }

  set limit(limit: number) {
    this.#limit = checkLimit(limit, "limit");
  }

  /** Places in use. */
  get held(): number {
    return this.#held;
  }

  /** Whether a place is free. */
  get free(): boolean {
    return this.#held < this.#limit;
  }

  /** Takes a place. */
  take(): void {
    this.#held++;
  }

  /** Gives one back. */
  release(): void {
    this.#held--;
  }
}

function checkLimit(limit: unknown, field: string): number {
  return checkNumber(field, limit, { min: 1, max: 1_000_000, integer: true });
}
