/**
 * The event queue of the virtual clock. Most timers are timeouts: armed far ahead, and cancelled long before they are
 * due. They wait unsorted in a ring of buckets, where arming and cancelling touch only neighbours; a bucket is
 * emptied into the heap when the clock comes near it, and the heap alone knows the order.
 *
 * Invariant: what is due before the end of bucket `opened` is in the heap. So are the timers too far ahead for the
 * ring, and those of the next bucket, for which the way round would be the longer one.
 */
import type { Timer } from "../core/runtime.ts";
import { TimerHeap } from "./heap.ts";

/** Together the buckets reach 16 s ahead: further than most timeouts. */
const BUCKET_MS = 16;
const BUCKETS = 1024;
const MASK = BUCKETS - 1;

/** A timer's `position` in bucket 0; indexes of the heap are below it. */
const IN_BUCKET = 1_000_000_000;

/** Timers, soonest first; those due together in the order in which they were armed. */
export class TimerQueue {
  private readonly near: TimerHeap = new TimerHeap();
  private readonly buckets: (Timer | null)[] = new Array(BUCKETS).fill(null);
  /** How many timers are in buckets. */
  private far = 0;
  private opened = 0;

  /** How many are armed. */
  get size(): number {
    return this.near.size + this.far;
  }

  /** The next to fire, or undefined. */
  get first(): Timer | undefined {
    if (this.far > 0) this.openBuckets();
    return this.near.first;
  }

  /** Adds a timer whose `dueAt` and `sequence` are set. */
  push(timer: Timer, now: number): void {
    if (this.far === 0) this.opened = Math.floor(now / BUCKET_MS);
    const bucket = Math.floor(timer.dueAt / BUCKET_MS);
    const ahead = bucket - this.opened;
    if (ahead > 1 && ahead < BUCKETS) this.link(timer, bucket & MASK);
    else this.near.push(timer);
  }

  /** Takes a timer out, wherever it is. */
  remove(timer: Timer): void {
    if (timer.position >= IN_BUCKET) this.unlink(timer);
    else this.near.remove(timer);
  }

  /** Empties buckets until none can hold a timer that is due before the heap's first. */
  private openBuckets(): void {
    let { first } = this.near;
    while (this.far > 0 && (first === undefined || first.dueAt >= (this.opened + 1) * BUCKET_MS)) {
      this.opened++;
      this.empty(this.opened & MASK);
      ({ first } = this.near);
    }
  }

  private empty(slot: number): void {
    for (let timer = this.buckets[slot] ?? null; timer !== null; timer = this.buckets[slot] ?? null) {
      this.unlink(timer);
      this.near.push(timer);
    }
  }

  private link(timer: Timer, slot: number): void {
    const later = this.buckets[slot] ?? null;
    timer.position = IN_BUCKET + slot;
    timer.later = later;
    if (later !== null) later.earlier = timer;
    this.buckets[slot] = timer;
    this.far++;
  }

  private unlink(timer: Timer): void {
    const { earlier, later } = timer;
    if (earlier === null) this.buckets[timer.position - IN_BUCKET] = later;
    else earlier.later = later;
    if (later !== null) later.earlier = earlier;
    timer.position = -1;
    timer.earlier = null;
    timer.later = null;
    this.far--;
  }
}
