/**
 * What a closed breaker remembers: the last N outcomes, or those of the last T ms. Both cost the same per call
 * however large they are: a count window flips one bit and keeps a sum, a time window counts in ten buckets.
 *
 * A count window trips within the first N calls of a total failure; a time window full of healthy history is as
 * slow as its length times the threshold. Source: the Basketly page, Part 7 ("Count window or time window").
 */

/** Recent outcomes of one operation. */
export interface Window {
  /** Adds an outcome. `now` matters to time windows only. */
  add(failed: boolean, now: number): void;
  /** Whether `now` matters. */
  readonly timed: boolean;
  /** Outcomes inside. */
  readonly total: number;
  /** Failures among them. */
  readonly failures: number;
}

const BITS = 30;

/** The last `calls` outcomes, one bit each. Most windows never see a failure, and need no bits until they do. */
export class CountWindow implements Window {
  total = 0;
  failures = 0;
  private readonly calls: number;
  private words: number[] | null = null;
  private next = 0;

  constructor(calls: number) {
    this.calls = calls;
  }

  get timed(): boolean {
    return false;
  }

  add(failed: boolean): void {
    const at = this.next;
    this.next = at + 1 === this.calls ? 0 : at + 1;
    if (this.total < this.calls) this.total++;
    if (failed && this.words === null) this.words = new Array(Math.ceil(this.calls / BITS)).fill(0);
    if (this.words !== null) this.mark(this.words, at, failed);
  }

  private mark(words: number[], at: number, failed: boolean): void {
    const index = (at / BITS) | 0;
    const mask = 1 << (at % BITS);
    const word = words[index] as number;
    if ((word & mask) !== 0) this.failures--;
    if (failed) this.failures++;
    words[index] = failed ? word | mask : word & ~mask;
  }
}

const BUCKETS = 10;

/** The outcomes of the last `ms`, to within a tenth of it. */
export class TimeWindow implements Window {
  total = 0;
  failures = 0;
  private readonly bucketMs: number;
  private readonly bucketTotals: number[] = new Array(BUCKETS).fill(0);
  private readonly bucketFailures: number[] = new Array(BUCKETS).fill(0);
  private bucket = -1;

  constructor(ms: number) {
    this.bucketMs = ms / BUCKETS;
  }

  get timed(): boolean {
    return true;
  }

  add(failed: boolean, now: number): void {
    this.advance(now);
    const at = this.bucket % BUCKETS;
    this.bucketTotals[at] = (this.bucketTotals[at] as number) + 1;
    this.total++;
    if (!failed) return;
    this.bucketFailures[at] = (this.bucketFailures[at] as number) + 1;
    this.failures++;
  }

  /** Forgets what is older than the window at `now`. */
  advance(now: number): void {
    const bucket = Math.floor(now / this.bucketMs);
    if (this.bucket < 0) this.bucket = bucket;
    const steps = Math.min(BUCKETS, bucket - this.bucket);
    for (let i = 1; i <= steps; i++) this.forget((this.bucket + i) % BUCKETS);
    if (bucket > this.bucket) this.bucket = bucket;
  }

  private forget(at: number): void {
    this.total -= this.bucketTotals[at] as number;
    this.failures -= this.bucketFailures[at] as number;
    this.bucketTotals[at] = 0;
    this.bucketFailures[at] = 0;
  }
}
