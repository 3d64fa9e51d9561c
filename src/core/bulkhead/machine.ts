/**
 * The gate of a bulkhead: a number of places, some of them held. Whoever holds one gives it back when its work has
 * truly ended, not when its answer was given.
 *
 * Invariant: 0 ≤ held; held ≤ limit unless the limit was lowered while they were held. Size it by Little's law: calls
 * a second × P99 in seconds × headroom. Sources: the Basketly page, Part 8; the resilience notes, §07.
 */
import { checkNumber } from "../options.ts";

/** The places of a gate, as others may see them. */
export interface GateState {
  readonly limit: number;
  /** Places in use. */
  readonly held: number;
  /** Whether a place is free. */
  readonly free: boolean;
}

/** Counts places. */
export class Gate implements GateState {
  private places: number;
  private taken = 0;

  constructor(limit: number, field = "limit") {
    this.places = checkLimit(limit, field);
  }

  get limit(): number {
    return this.places;
  }

  /** Changes the number of places. Whoever waits for one has to be called by whoever does this. */
  resize(limit: number): void {
    this.places = checkLimit(limit, "limit");
  }

  /** Places in use. */
  get held(): number {
    return this.taken;
  }

  /** Whether a place is free. */
  get free(): boolean {
    return this.taken < this.places;
  }

  /** Takes a place. */
  take(): void {
    this.taken++;
  }

  /** Gives one back. */
  release(): void {
    this.taken--;
  }
}

function checkLimit(limit: unknown, field: string): number {
  return checkNumber(field, limit, { min: 1, max: 1_000_000, integer: true });
}
