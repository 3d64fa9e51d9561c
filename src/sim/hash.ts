/**
 * The fingerprint of a run: a hash over its log, entry by entry, in order and with times. Two lanes of 32-bit
 * multiply-and-rotate arithmetic, so it is cheap and the same in every engine. It is no cryptography: it tells two
 * different histories apart, and one seed's history from itself never.
 */

/** Hashes a log of (time, code, detail) entries. */
export class LogHash {
  /** Entries so far. */
  entries = 0;
  private a: number = 0x811c9dc5 | 0;
  private b: number = 0x2545f491;

  /** Adds an entry. `atMs` is below 2^32; what is below 2^-21 ms of it is not looked at. */
  add(atMs: number, code: number, detail: number): void {
    this.entries++;
    const whole = Math.floor(atMs);
    this.mix(whole | 0);
    this.mix(((atMs - whole) * 2_097_152) | 0);
    this.mix(Math.imul(code, 0x01000000) ^ detail);
  }

  /** The hash so far, as 16 hexadecimal digits. */
  get text(): string {
    return hex(this.a) + hex(this.b);
  }

  private mix(word: number): void {
    const a = Math.imul(this.a ^ word, 0x01000193);
    const b = Math.imul(this.b ^ word, 0x85ebca6b);
    this.a = (a << 13) | (a >>> 19);
    this.b = ((b << 17) | (b >>> 15)) ^ a;
  }
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
