/**
 * The admission queue: where requests wait for a place. It absorbs a burst and creates no capacity, so it is bounded
 * in number, in bytes and in time; the excess is refused at once. First in, first out; the deadline is looked at
 * when an entry leaves, so work that nobody wants any more is dropped instead of started.
 *
 * Entries are linked through their own fields: joining, leaving and being cancelled allocate nothing and take
 * constant time. Sources: the resilience notes, §09 ("Queue policy"); the Basketly page, Part 2 ("at dequeue").
 */
import { checkKeys, checkMs, checkNumber, orDefault } from "../options.ts";

/** What can wait: it carries its own links. One entry waits in at most one queue. */
export interface Entry<E> {
  ahead: E | null;
  behind: E | null;
  waitingSince: number;
}

/** The bounds of a queue. */
export interface QueueOptions {
  /** How many may wait: 0 or more, whole, or Infinity if you type it. Default 0: nobody waits. */
  readonly maxWaiting?: number;
  /** How long one may wait, in ms, 0 to 2^31 − 1, or Infinity if you type it. Default 1,000 (our choice). */
  readonly maxWaitMs?: number;
  /**
   * Bytes that may wait in all: 0 or more, or Infinity. Default Infinity: a call has no size unless it says so
   * (`bytes`).
   */
  readonly maxBytes?: number;
}

/** A bounded first-in, first-out queue. */
export class AdmissionQueue<E extends Entry<E>> {
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  readonly maxBytes: number;
  private count = 0;
  private waitingBytes = 0;
  private front: E | null = null;
  private rear: E | null = null;
  private readonly bytesOf: ((entry: E) => number) | null;

  constructor(options: QueueOptions = {}, field = "queue", bytesOf: ((entry: E) => number) | null = null) {
    checkKeys(field, options, ["maxWaiting", "maxWaitMs", "maxBytes"]);
    this.maxWaiting = checkNumber(`${field}.maxWaiting`, orDefault(options.maxWaiting, 0), {
      integer: true,
      orInfinity: true,
    });
    this.maxWaitMs = checkMs(`${field}.maxWaitMs`, orDefault(options.maxWaitMs, 1_000), { orInfinity: true });
    this.maxBytes = checkNumber(`${field}.maxBytes`, orDefault(options.maxBytes, Infinity), {
      orInfinity: true,
    });
    this.bytesOf = bytesOf;
  }

  /** How many wait. */
  get size(): number {
    return this.count;
  }

  /** Bytes that wait. */
  get bytes(): number {
    return this.waitingBytes;
  }

  /** How long the entry at the front has waited, in ms; 0 when nobody waits. */
  oldestMs(now: number): number {
    return this.front === null ? 0 : now - this.front.waitingSince;
  }

  /** Lets `entry` wait at the rear. False, and nothing changed, when that would pass a bound. */
  join(entry: E, now: number): boolean {
    const bytes = this.bytesOf === null ? 0 : this.bytesOf(entry);
    if (this.count >= this.maxWaiting || this.waitingBytes + bytes > this.maxBytes) return false;
    entry.waitingSince = now;
    entry.ahead = this.rear;
    entry.behind = null;
    if (this.rear === null) this.front = entry;
    else this.rear.behind = entry;
    this.rear = entry;
    this.count++;
    this.waitingBytes += bytes;
    return true;
  }

  /** The entry at the front, or null. */
  get first(): E | null {
    return this.front;
  }

  /** Takes the entry at the front out, or null. */
  shift(): E | null {
    const entry = this.front;
    if (entry !== null) this.remove(entry);
    return entry;
  }

  /** Takes a waiting entry out, wherever it stands. */
  remove(entry: E): void {
    const { ahead, behind } = entry;
    if (ahead === null) this.front = behind;
    else ahead.behind = behind;
    if (behind === null) this.rear = ahead;
    else behind.ahead = ahead;
    entry.ahead = null;
    entry.behind = null;
    this.count--;
    if (this.bytesOf !== null) this.waitingBytes -= this.bytesOf(entry);
  }
}
