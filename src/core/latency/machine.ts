/**
 * What latencies have been lately: a histogram over a sliding window, for live percentiles.
 *
 * Buckets grow with their values, eight to each doubling, so that a percentile is right to within a sixteenth from
 * 16 µs to days, and no logarithm is needed: a number's highest bit and the three below it name its bucket. The
 * window is two generations of half its length; when the younger is full the older is forgotten. So it covers between
 * half and all of `windowMs`, in two fixed arrays, whatever the rate.
 *
 * Sources: Tene, HdrHistogram (buckets by highest bit); Dean and Barroso, "The Tail at Scale" (what it is for).
 */
import { checkMs, checkNumber } from "../options.ts";

/** Buckets in each doubling. */
const STEPS = 8;
const STEP_BITS = 3;
/** Values are counted in 64ths of a ms. */
const UNITS_PER_MS = 64;
const MAX_UNITS = 0xffff_ffff;
const BUCKETS = (32 - STEP_BITS + 1) * STEPS;

/** The bucket of a value: below 8 units each has its own, above that the highest bit and three more decide. */
function bucketOf(ms: number): number {
  const units = Math.min(MAX_UNITS, Math.max(0, Math.floor(ms * UNITS_PER_MS)));
  const high = 31 - Math.clz32(units);
  if (high < STEP_BITS) return units;
  return (high - STEP_BITS + 1) * STEPS + ((units >>> (high - STEP_BITS)) & (STEPS - 1));
}

/** The middle of a bucket, in ms. */
function middleOf(bucket: number): number {
  if (bucket < STEPS) return (bucket + 0.5) / UNITS_PER_MS;
  const doubling = Math.floor(bucket / STEPS) - 1;
  const width = 1 << doubling;
  return (((bucket % STEPS) + STEPS + 0.5) * width) / UNITS_PER_MS;
}

/** Latencies of the last `windowMs` or a little less. */
export class LatencyWindow {
  readonly windowMs: number;
  private younger = new Uint32Array(BUCKETS);
  private older = new Uint32Array(BUCKETS);
  private youngerTotal = 0;
  private olderTotal = 0;
  /** Which half of a window, counted from the clock's zero, the younger generation is. */
  private generation = -Infinity;

  constructor(windowMs: number, field = "windowMs") {
    this.windowMs = checkMs(field, windowMs, { min: 10, max: 86_400_000 });
  }

  /** Adds a latency. */
  record(ms: number, now: number): void {
    this.advance(now);
    const bucket = bucketOf(ms);
    this.younger[bucket] = (this.younger[bucket] as number) + 1;
    this.youngerTotal++;
  }

  /** How many are inside. */
  total(now: number): number {
    this.advance(now);
    return this.youngerTotal + this.olderTotal;
  }

  /** The latency that a share `rank` of them (above 0, to 1) does not exceed, in ms; null without any. */
  percentile(rank: number, now: number): number | null {
    const wanted = Math.ceil(checkNumber("rank", rank, { above: 0, max: 1 }) * this.total(now));
    if (wanted === 0) return null;
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += (this.younger[bucket] as number) + (this.older[bucket] as number);
      if (seen >= wanted) return middleOf(bucket);
    }
    return null;
  }

  private advance(now: number): void {
    const generation = Math.floor((2 * now) / this.windowMs);
    const steps = generation - this.generation;
    if (steps <= 0) return;
    this.generation = generation;
    const forgotten = this.older;
    this.older = this.younger;
    this.olderTotal = this.youngerTotal;
    this.younger = forgotten.fill(0);
    this.youngerTotal = 0;
    if (steps === 1) return;
    this.older.fill(0);
    this.olderTotal = 0;
  }
}
