/**
 * The event queue of the virtual clock: a heap ordered by (due time, arming order). Each timer knows its own index,
 * so cancelling is O(log n) and a cancelled timer leaves nothing behind.
 *
 * Four children a node, and the keys beside the timers in flat arrays: sifting compares numbers that lie next to
 * each other and follows no pointer. Together that is worth a third of a simulation.
 */
import type { Timer } from "../core/runtime.ts";

/** Timers, soonest first; those due together in the order in which they were armed. */
export class TimerHeap {
  private readonly timers: Timer[] = [];
  private dueAt: Float64Array = new Float64Array(64);
  private sequence: Float64Array = new Float64Array(64);

  /** How many are armed. */
  get size(): number {
    return this.timers.length;
  }

  /** The next to fire, or undefined. */
  get first(): Timer | undefined {
    return this.timers[0];
  }

  /** Adds a timer whose `dueAt` and `sequence` are set. */
  push(timer: Timer): void {
    const index = this.timers.length;
    if (index === this.dueAt.length) this.grow();
    this.timers.push(timer);
    this.up(timer, timer.dueAt, timer.sequence, index);
  }

  /** Takes a timer out, wherever it is. */
  remove(timer: Timer): void {
    const index = timer.position;
    const last = this.timers.pop() as Timer;
    timer.position = -1;
    if (last === timer) return;
    const dueAt = this.dueAt[this.timers.length] as number;
    const sequence = this.sequence[this.timers.length] as number;
    if (index > 0 && this.after((index - 1) >> 2, dueAt, sequence)) this.up(last, dueAt, sequence, index);
    else this.down(last, dueAt, sequence, index);
  }

  /** Whether what is at `index` comes after this key. */
  private after(index: number, dueAt: number, sequence: number): boolean {
    const due = this.dueAt[index] as number;
    return due > dueAt || (due === dueAt && (this.sequence[index] as number) > sequence);
  }

  private up(timer: Timer, dueAt: number, sequence: number, from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 2;
      if (!this.after(parent, dueAt, sequence)) break;
      this.move(parent, index);
      index = parent;
    }
    this.put(timer, dueAt, sequence, index);
  }

  private down(timer: Timer, dueAt: number, sequence: number, from: number): void {
    const { length } = this.timers;
    let index = from;
    for (let first = 4 * index + 1; first < length; first = 4 * index + 1) {
      const child = this.soonest(first, Math.min(first + 4, length));
      if (this.after(child, dueAt, sequence)) break;
      this.move(child, index);
      index = child;
    }
    this.put(timer, dueAt, sequence, index);
  }

  /** The index of the soonest of a range. */
  private soonest(first: number, end: number): number {
    let best = first;
    let due = this.dueAt[first] as number;
    for (let index = first + 1; index < end; index++) {
      const other = this.dueAt[index] as number;
      if (other > due) continue;
      if (other === due && (this.sequence[index] as number) > (this.sequence[best] as number)) continue;
      best = index;
      due = other;
    }
    return best;
  }

  private move(from: number, to: number): void {
    const timer = this.timers[from] as Timer;
    this.put(timer, this.dueAt[from] as number, this.sequence[from] as number, to);
  }

  private put(timer: Timer, dueAt: number, sequence: number, index: number): void {
    this.timers[index] = timer;
    this.dueAt[index] = dueAt;
    this.sequence[index] = sequence;
    timer.position = index;
  }

  private grow(): void {
    const { dueAt, sequence } = this;
    this.dueAt = new Float64Array(2 * dueAt.length);
    this.dueAt.set(dueAt);
    this.sequence = new Float64Array(2 * sequence.length);
    this.sequence.set(sequence);
  }
}
