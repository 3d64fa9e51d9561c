/**
 * A hashed timer wheel (Varghese and Lauck, 1987): 1,024 slots of 1 ms, each a list in arming order. A timer further
 * away than one turn waits in its slot for a later turn. Due times are whole milliseconds.
 */
import type { Timer } from "../core/runtime.ts";

const SLOTS = 1024;
const MASK = SLOTS - 1;

/** Timers by due millisecond. */
export class TimerWheel {
  /** How many are armed. */
  size = 0;
  private readonly firsts: (Timer | null)[] = new Array(SLOTS).fill(null);
  private readonly lasts: (Timer | null)[] = new Array(SLOTS).fill(null);
  /** Everything due at or before this millisecond has been fired, or is in the slot of the next one. */
  private swept: number;

  constructor(now: number) {
    this.swept = Math.floor(now);
  }

  /** Adds a timer whose `dueAt` is set. One that is due already fires at the next sweep. */
  add(timer: Timer): void {
    if (this.size === 0) this.swept = Math.min(this.swept, timer.dueAt - 1);
    const slot = Math.max(timer.dueAt, this.swept + 1) & MASK;
    const last = this.lasts[slot] as Timer | null;
    timer.position = slot;
    timer.earlier = last;
    timer.later = null;
    if (last === null) this.firsts[slot] = timer;
    else last.later = timer;
    this.lasts[slot] = timer;
    this.size++;
  }

  /** Takes an armed timer out. */
  remove(timer: Timer): void {
    const { position: slot, earlier, later } = timer;
    if (earlier === null) this.firsts[slot] = later;
    else earlier.later = later;
    if (later === null) this.lasts[slot] = earlier;
    else later.earlier = earlier;
    timer.position = -1;
    timer.earlier = null;
    timer.later = null;
    this.size--;
  }

  /** Takes out the next timer due at or before `now`, in order of due time, then arming; null if there is none. */
  shiftDue(now: number): Timer | null {
    if (this.size === 0) {
      this.swept = Math.max(this.swept, now);
      return null;
    }
    // After a long pause one whole turn visits every slot; order between its milliseconds is then by slot.
    if (now - this.swept > SLOTS) this.swept = now - SLOTS;
    while (this.swept < now) {
      const due = this.firstDue((this.swept + 1) & MASK, now);
      if (due !== null) {
        this.remove(due);
        return due;
      }
      this.swept++;
    }
    return null;
  }

  /** The earliest millisecond at which something may be due; `Infinity` when nothing is armed. */
  nextAt(): number {
    if (this.size === 0) return Infinity;
    for (let at = this.swept + 1; at <= this.swept + SLOTS; at++) {
      for (let timer = this.firsts[at & MASK] as Timer | null; timer !== null; timer = timer.later) {
        if (timer.dueAt <= at) return at;
      }
    }
    return this.swept + SLOTS;
  }

  private firstDue(slot: number, now: number): Timer | null {
    let timer = this.firsts[slot] as Timer | null;
    while (timer !== null && timer.dueAt > now) timer = timer.later;
    return timer;
  }
}
