/**
 * The attempt timeout: how long one attempt may take. It starts when the attempt is sent, after any wait for a place,
 * and is always innermost; set it from the healthy tail, about 2 × P99.9. The timer itself lives in the attempt.
 * Source: the Basketly page, Part 2 ("A timeout from percentiles").
 */
import { checkMs } from "../options.ts";
import type { Guard } from "../stack.ts";

/** The limit of each attempt, found innermost in a stack. */
export class AttemptTimeout {
  readonly name = "timeout";
  readonly attemptTimeoutMs: number;

  constructor(attemptTimeoutMs: number, field = "attemptTimeoutMs") {
    this.attemptTimeoutMs = checkMs(field, attemptTimeoutMs, { min: 1 });
  }
}

/** An attempt timeout as the innermost layer of a stack; 1 to 2^31 − 1 ms. No default: it must be measured. */
export function timeout(attemptTimeoutMs: number, field = "attemptTimeoutMs"): Guard {
  const guard = new AttemptTimeout(attemptTimeoutMs, field);
  return { name: "timeout", bind: () => guard };
}
