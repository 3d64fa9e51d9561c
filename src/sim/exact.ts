/**
 * Random durations that are the same in every engine. `Math.log` may differ in its last bit from one engine to the
 * next; this logarithm is made of additions, multiplications and divisions only, which IEEE 754 defines exactly.
 *
 * Durations are whole multiples of 2^-10 ms. Sums of them are then exact, so two things that should happen at the
 * same instant do, and which of them comes first is decided by the order in which they were armed.
 */
import type { Random } from "../core/random.ts";

/** Parts of a millisecond that a duration is rounded to. */
const PARTS = 1024;

const TWO_32 = 4_294_967_296;

/** `ms` as a whole multiple of 2^-10 ms. */
export function rounded(ms: number): number {
  return Math.round(ms * PARTS) / PARTS;
}

/** The natural logarithm of a whole number from 1 to 2^32. */
export function lnOfWhole(n: number): number {
  let exponent = n >= TWO_32 ? 32 : 31 - Math.clz32(n);
  let m = n / (exponent === 32 ? TWO_32 : (1 << exponent) >>> 0);
  if (m > Math.SQRT2) {
    m /= 2;
    exponent++;
  }
  // ln m = 2 artanh s, with s = (m - 1) / (m + 1) and |s| < 0.172: ten terms leave less than 2^-53.
  const s = (m - 1) / (m + 1);
  const q = s * s;
  const tail = 1 / 13 + q * (1 / 15 + q * (1 / 17 + q * (1 / 19)));
  const head = 1 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q * tail)))));
  return 2 * s * head + exponent * Math.LN2;
}

/** A draw from the exponential distribution with this mean. Uses one number of the stream. */
export function exponential(meanMs: number, random: Random): number {
  return rounded(-meanMs * (lnOfWhole(TWO_32 - random.next() * TWO_32) - 32 * Math.LN2));
}
