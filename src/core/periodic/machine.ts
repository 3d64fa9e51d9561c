/**
 * When periodic work is due: at an offset within the period that is as good as random and always the same for one id.
 *
 * Work that everybody does "each minute" is done by everybody at :00, and a fleet of idle agents becomes a storm once
 * a minute. Jitter drawn anew each time spreads it but makes the gaps uneven: data is up to two periods old. An offset
 * that depends on the id alone spreads it and keeps every gap at one period. Source: the Basketly page, Part 4.
 */
import { checkMs } from "../options.ts";
import { hash32 } from "../random.ts";

const HASHES = 4_294_967_296;

/** The offset of `id` within `periodMs` (1 to 2^31 − 1), in whole ms; spread evenly over ids. Throws an `OptionError`. */
export function stableOffset(id: string, periodMs: number): number {
  const period = checkMs("periodMs", periodMs, { min: 1 });
  return Math.floor((hash32(id) / HASHES) * period);
}

/** The first time after `now` that is `offsetMs` into a period. */
export function nextDue(now: number, offsetMs: number, periodMs: number): number {
  const due = Math.floor((now - offsetMs) / periodMs) * periodMs + offsetMs + periodMs;
  return due > now ? due : due + periodMs;
}
