// Chance in the shapes that a program needs.
import { SeededRandom } from "../../src/core/index.ts";

export class Dice {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed).fork("program");
  }

  /** 0 to `below` − 1. */
  int(below: number): number {
    return Math.floor(this.#random.next() * below);
  }

  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  pick<T>(...from: readonly T[]): T {
    return from[this.int(from.length)] as T;
  }

  /** What `make` makes, or null. */
  maybe<T>(share: number, make: () => T): T | null {
    return this.chance(share) ? make() : null;
  }

  times<T>(count: number, make: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => make(index));
  }
}
