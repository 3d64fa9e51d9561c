/**
 * A checkpoint in a loop that computes: stops when nobody waits for the result any more, and lets the process do other
 * work when it has computed for long. A signal cannot interrupt a loop; without a checkpoint a cancelled computation
 * goes on, and everything else waits for it: timers, other requests, and the very event that would fire the signal.
 * Source: the resilience notes, §02 ("check it before expensive work and inside long loops").
 */
import { checkKeys, checkMs, orDefault } from "../core/options.ts";

/** Options of `checkpoint`. */
export interface CheckpointOptions {
  /** Gives way to other work after computing for this long, in ms, 0 to 2^31 − 1. Default 5 (our choice). */
  readonly everyMs?: number;
}

/** When the event loop was last known to have turned, by `performance.now()`. */
let turnedAt = -Infinity;

/**
 * Throws the signal's reason if it has fired. If the process has computed for `everyMs` since it last gave way, lets
 * other work run first (and then throws, if the signal fired meanwhile). Otherwise it costs a look at the clock:
 * `await` it as often as you like, or call it without when it gives undefined.
 */
export function checkpoint(signal: AbortSignal, options?: CheckpointOptions): Promise<void> | undefined {
  if (options !== undefined) checkKeys("checkpoint", options, ["everyMs"]);
  const everyMs = checkMs("checkpoint.everyMs", orDefault(options?.everyMs, 5));
  signal.throwIfAborted();
  const now = performance.now();
  if (turnedAt === -Infinity) watchTurn(now);
  return now - turnedAt < everyMs ? undefined : giveWay(signal);
}

/** Notes when this turn of the event loop began to compute, and forgets it when the loop turns. */
function watchTurn(now: number): void {
  turnedAt = now;
  setImmediate(() => {
    turnedAt = -Infinity;
  });
}

function giveWay(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      turnedAt = -Infinity;
      if (signal.aborted) reject(signal.reason);
      else resolve();
    });
  });
}
