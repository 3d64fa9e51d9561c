/**
 * One machine for each key (host, tenant, shard), in bounded memory and without a timer.
 *
 * Keys come from outside, so their number has no bound of its own, and a key that is seen once must not be remembered
 * for ever. Keys live in two generations. A key that is asked for is in the younger; when that is full, or has lasted
 * `idleMs`, it becomes the older one, and what was in the older and has not been asked for since is forgotten. So a
 * key that is used at least once in `idleMs` is kept, as long as fewer than half of `maxKeys` others are used between
 * two of its uses, and finding one costs a look in a map or two.
 *
 * Invariant: size ≤ maxKeys, or, where machines may be in use (their places are held), that and twice the most that
 * were in use: a machine in use is never forgotten. What is forgotten begins anew: an open breaker of a key that nobody
 * asked for is closed when it comes back. Source: the case files on limiters and breakers that keep every key ever seen.
 */
import { checkMs, checkNumber, orDefault } from "../options.ts";

/** How many keys are kept, and how long without use. */
export interface KeyedOptions {
  /** Keys kept at most, 2 to 10,000,000, whole. Default 10,000 (our choice: about 4 MB of breakers). */
  readonly maxKeys?: number;
  /** A key may be forgotten after this long without use, in ms, 1 to 2^31 − 1. Default 600,000 (our choice). */
  readonly idleMs?: number;
}

/** Machines by key. */
export class Keyed<M> {
  readonly maxKeys: number;
  readonly idleMs: number;
  /** Keys that were forgotten while there was no room for them, since the start. */
  crowdedOut = 0;
  private readonly make: (key: string) => M;
  private readonly inUse: ((machine: M) => boolean) | null;
  /** Those of the younger generation that are there only because they are in use. */
  private carried = 0;
  private younger: Map<string, M> = new Map();
  private older: Map<string, M> = new Map();
  private since = -Infinity;

  constructor(
    make: (key: string) => M,
    options: KeyedOptions,
    field: string,
    inUse: ((machine: M) => boolean) | null = null,
  ) {
    this.make = make;
    this.inUse = inUse;
    this.maxKeys = checkNumber(`${field}.maxKeys`, orDefault(options.maxKeys, 10_000), {
      min: 2,
      max: 10_000_000,
      integer: true,
    });
    this.idleMs = checkMs(`${field}.idleMs`, orDefault(options.idleMs, 600_000), { min: 1 });
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.younger.size + this.older.size;
  }

  /** The machine of `key`, or undefined where none is remembered. Changes nothing. */
  peek(key: string): M | undefined {
    return this.younger.get(key) ?? this.older.get(key);
  }

  /** The machine of `key`; a new one where none is remembered. */
  of(key: string, now: number): M {
    const known = this.younger.get(key);
    if (known !== undefined && now - this.since < this.idleMs) return known;
    return this.promote(key, now);
  }

  /** What is remembered, the least used first. */
  *entries(): Generator<[string, M]> {
    yield* this.older;
    yield* this.younger;
  }

  private promote(key: string, now: number): M {
    if (now - this.since >= this.idleMs) this.age(now);
    else if (this.younger.size - this.carried >= Math.floor(this.maxKeys / 2) && !this.younger.has(key)) {
      const before = this.size;
      this.age(now, key);
      this.crowdedOut += before - this.size;
    }
    const machine = this.peek(key) ?? this.make(key);
    this.older.delete(key);
    this.younger.set(key, machine);
    return machine;
  }

  /** The younger generation becomes the older one; `keep` is carried over if the older one knows it, and who is in use. */
  private age(now: number, keep?: string): void {
    const rested = now - this.since >= 2 * this.idleMs;
    const leaving = rested ? [...this.entries()] : [...this.older];
    this.older = rested ? new Map() : this.younger;
    this.younger = new Map();
    this.carried = 0;
    this.since = now;
    for (const [key, machine] of leaving) {
      if (key === keep) this.younger.set(key, machine);
      else if (this.inUse?.(machine) === true) {
        this.younger.set(key, machine);
        this.carried++;
      }
    }
  }
}
