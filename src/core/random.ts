/**
 * Randomness that replays: sfc32 (Chris Doty-Humphrey, PractRand), 32-bit integer arithmetic only, so that one
 * seed gives one sequence on every engine. A stream is forked *by name*: the child's seed depends on the parent's
 * seed and the name alone, never on how much either has drawn.
 */

/** A stream of uniform numbers in [0, 1). */
export interface Random {
  /** The next number, in [0, 1). */
  next(): number;
  /** An independent stream; the same name gives the same stream. */
  fork(name: string): Random;
}

/** A seeded stream. `new SeededRandom(1)` is the same everywhere, always. */
export class SeededRandom implements Random {
  private readonly seed: number;
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: number) {
    this.seed = seed >>> 0;
    this.a = 0x9e3779b9 ^ this.seed;
    this.b = 0x243f6a88;
    this.c = 0xb7e15162 ^ ((this.seed << 13) | (this.seed >>> 19));
    for (let i = 0; i < 15; i++) this.next();
  }

  next(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum;
    return (sum >>> 0) / 4_294_967_296;
  }

  fork(name: string): SeededRandom {
    return new SeededRandom(hash32(name, this.seed));
  }
}

/** FNV-1a over UTF-16 code units, finished by murmur3's avalanche: spreads similar names far apart. */
export function hash32(text: string, seed = 0): number {
  let h = 0x811c9dc5 ^ seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
