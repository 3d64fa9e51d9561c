/**
 * Timers armed in the present turn of the event loop. Most timers guard calls that are answered within the turn in
 * which they were made; those are armed and cancelled here, a list in arming order, and never reach the wheel.
 */
import type { Timer } from "../core/runtime.ts";

/** A timer's `position` while it is young; slots of the wheel are below it. */
export const YOUNG = 1_000_000;

/** The timers of this turn. */
export class YoungTimers {
  private last: Timer | null = null;

  get empty(): boolean {
    return this.last === null;
  }

  /** Adds a timer that is not armed. */
  add(timer: Timer): void {
    const { last } = this;
    timer.position = YOUNG;
    timer.earlier = last;
    if (last !== null) last.later = timer;
    this.last = timer;
  }

  /** Takes a young timer out. */
  remove(timer: Timer): void {
    const { earlier, later } = timer;
    timer.position = -1;
    if (later === null) this.last = earlier;
    else later.earlier = earlier;
    if (earlier !== null) {
      earlier.later = later;
      timer.earlier = null;
    }
    if (later !== null) timer.later = null;
  }

  /** Takes all out, in the order in which they were armed. */
  takeAll(): Timer[] {
    const timers: Timer[] = [];
    for (let timer = this.last; timer !== null; timer = this.last) {
      this.remove(timer);
      timers.push(timer);
    }
    return timers.reverse();
  }

  /** How many there are. */
  get size(): number {
    let size = 0;
    for (let timer = this.last; timer !== null; timer = timer.earlier) size++;
    return size;
  }
}
