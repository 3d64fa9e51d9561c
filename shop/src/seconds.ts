/**
 * Counting by the second, in one process. All processes are on one machine and share its wall clock, from which the
 * common instant zero is told; within a process the monotonic clock goes on from there.
 */
import { Vitals } from "./vitals.ts";

/** What happened in a second, by name. */
export type Counts = Record<string, number>;

/** Counts of one process, by second after zero. */
export class Seconds {
  readonly vitals: Vitals = new Vitals();
  readonly #zeroMs: number;
  readonly #bySecond: Map<number, Counts> = new Map();

  /** `zeroAtMs` is the instant zero by the wall clock. */
  constructor(zeroAtMs: number) {
    this.#zeroMs = zeroAtMs - performance.timeOrigin;
  }

  /** Seconds since zero, with fractions. */
  get now(): number {
    return (performance.now() - this.#zeroMs) / 1000;
  }

  /** The monotonic clock's ms at `second`. */
  msAt(second: number): number {
    return this.#zeroMs + second * 1000;
  }

  /** Adds to a count of a second; of the present one by default. */
  add(name: string, amount = 1, second: number = Math.floor(this.now)): void {
    const counts = this.#bySecond.get(second) ?? {};
    counts[name] = (counts[name] ?? 0) + amount;
    this.#bySecond.set(second, counts);
  }

  /**
   * At the start of every second: reads gauges, and tells the parent of the second that is over, in case that this
   * process is killed. Until the process ends.
   */
  sample(gauges: () => Counts = () => ({})): void {
    this.#sampleAt(Math.floor(this.now) + 1, gauges);
  }

  /** A timer may fire a little early: what is read then still belongs to `second`, and only once. */
  #sampleAt(second: number, gauges: () => Counts): void {
    const waitMs = Math.ceil((second - this.now) * 1000);
    setTimeout(() => {
      this.vitals.read(second - 1);
      const counts = this.#bySecond.get(second - 1);
      if (counts !== undefined) process.send?.({ second: [second - 1, counts] });
      for (const [name, value] of Object.entries(gauges())) this.add(name, value, second);
      this.#sampleAt(second + 1, gauges);
    }, waitMs).unref();
  }

  /** Everything counted, second by second. */
  get all(): [number, Counts][] {
    return [...this.#bySecond].sort(([a], [b]) => a - b);
  }
}
