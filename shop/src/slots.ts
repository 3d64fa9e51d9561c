/**
 * Stock's storage: a few slots, each doing one piece of work at a time, whose length is exponential. In the hiccup,
 * work that starts takes `factor` times as long.
 *
 * Work is a sleep, and a sleep is never exact: each slot starts its next piece at the time at which the last should
 * have ended, so that lateness does not add up. What the mean really is gets measured, and told to the simulation.
 */
import { type Bulkhead, dependency, SeededRandom } from "plimsoll";

/** Settings of the slots. */
export interface SlotOptions {
  readonly slots: number;
  readonly meanMs: number;
  readonly seed: number;
  /** How many times slower work is that starts now. */
  factor(): number;
}

/** When a piece of work is given up before it ends. */
export interface Until {
  readonly deadline?: number;
  readonly signal?: AbortSignal;
}

/** A few slots and the line in front of them. */
export class Slots {
  readonly bulkhead: Bulkhead;
  readonly #options: SlotOptions;
  readonly #random: SeededRandom;
  readonly #free: Slot[];
  readonly #work: ReturnType<ReturnType<typeof dependency>["operation"]>;

  constructor(options: SlotOptions) {
    const { slots, seed } = options;
    const queue = { maxWaiting: Infinity, maxWaitMs: Infinity };
    const storage = dependency({ name: "storage", budget: "none", bulkhead: { limit: slots, queue } });
    this.#work = storage.operation("work");
    this.bulkhead = storage.bulkhead as Bulkhead;
    this.#options = options;
    this.#random = new SeededRandom(seed).fork("storage");
    this.#free = Array.from({ length: slots }, () => ({ lateMs: 0, endedAt: 0 }));
  }

  /** Waits for a slot and does one piece of work. */
  async work(until: Until): Promise<void> {
    await this.#work((attempt) => this.#occupy(attempt), until);
  }

  /** What a piece of work takes on average, over `pieces` of them, ms. */
  async measure(pieces: number): Promise<number> {
    const from = performance.now();
    await Promise.all(Array.from({ length: pieces }, () => this.work({})));
    return ((performance.now() - from) * this.#options.slots) / pieces;
  }

  async #occupy(attempt: { readonly signal: AbortSignal }): Promise<void> {
    const slot = this.#free.pop() as Slot;
    try {
      const ms = -Math.log(1 - this.#random.next()) * this.#options.meanMs * this.#options.factor();
      await sleepIn(slot, ms, attempt.signal);
    } finally {
      slot.endedAt = performance.now();
      this.#free.push(slot);
    }
  }
}

/** A slot, and how late its last piece of work ended. */
interface Slot {
  lateMs: number;
  endedAt: number;
}

/** A pause longer than this is a rest: lateness before it is no debt. */
const REST_MS = 1;

async function sleepIn(slot: Slot, ms: number, signal: AbortSignal): Promise<void> {
  const from = performance.now();
  const debt = from - slot.endedAt < REST_MS ? slot.lateMs : 0;
  const due = from + ms - debt;
  await sleep(due - from, signal);
  slot.lateMs = performance.now() - due;
}

/** Sleeps to the nearest ms, or rejects as soon as the signal fires. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const wake = () => {
      signal?.removeEventListener("abort", giveUp);
      resolve();
    };
    const immediate = ms < 0.5;
    const timer = immediate ? setImmediate(wake) : setTimeout(wake, Math.round(ms));
    const giveUp = () => {
      if (immediate) clearImmediate(timer as NodeJS.Immediate);
      else clearTimeout(timer as NodeJS.Timeout);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", giveUp, { once: true });
  });
}
