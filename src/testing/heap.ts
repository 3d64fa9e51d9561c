/**
 * The event queue of the virtual clock: a binary heap ordered by (due time, arming order). Each timer knows its own
 * index, so cancelling is O(log n) and a cancelled timer leaves nothing behind.
 */
import type { Timer } from "../core/runtime.ts";

/** Timers, soonest first; those due together in the order in which they were armed. */
export class TimerHeap {
  readonly #timers: Timer[] = [];

  /** How many are armed. */
  get size(): number {
    return this.#timers.length;
  }

  /** The next to fire, or undefined. */
  get first(): Timer | undefined {
    return this.#timers[0];
  }

  /** Adds a timer whose `dueAt` and `sequence` are set. */
  push(timer: Timer): void {
    this.#timers.push(timer);
    this.#up(timer, this.#timers.length - 1);
  }

  /** Takes a timer out, wherever it is. */
  remove(timer: Timer): void {
    const index = timer.position;
    const last = this.#timers.pop() as Timer;
    timer.position = -1;
    if (last === timer) return;
    if (index > 0 && before(last, this.#timers[(index - 1) >> 1] as Timer)) this.#up(last, index);
    else this.#down(last, index);
  }

  #up(timer: Timer, from: number): void {
    const timers = this.#timers;
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = timers[parentIndex] as Timer;
      if (!before(timer, parent)) break;
      timers[index] = parent;
      parent.position = index;
      index = parentIndex;
    }
    timers[index] = timer;
    timer.position = index;
  }

  #down(timer: Timer, from: number): void {
    const timers = this.#timers;
    const { length } = timers;
    let index = from;
    for (let childIndex = 2 * index + 1; childIndex < length; childIndex = 2 * index + 1) {
      let child = timers[childIndex] as Timer;
      const right = timers[childIndex + 1];
      if (right !== undefined && before(right, child)) {
        child = right;
        childIndex++;
      }
      if (!before(child, timer)) break;
      timers[index] = child;
      child.position = index;
      index = childIndex;
    }
    timers[index] = timer;
    timer.position = index;
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence);
}
