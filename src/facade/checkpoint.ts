/**
 * A checkpoint in a loop that computes: stops when nobody waits for the result any more, and lets the process do other
 * work when it has computed for long. A signal cannot interrupt a loop; without a checkpoint a cancelled computation
 * goes on, and everything else waits for it: timers, other requests, and the very event that would fire the signal.
 * Source: the resilience notes, §02 ("check it before expensive work and inside long loops").
 */
import { checkKeys, checkMs, orDefault } from "../core/options.ts";
import { type Host, theHost } from "./host.ts";

/** Options of `checkpoint`. */
export interface CheckpointOptions {
  /** Gives way to other work after computing for this long, in ms, 0 to 2^31 − 1. Default 5 (our choice). */
  readonly everyMs?: number;
}

/** When this turn of the event loop began to compute, by the host's clock; −Infinity while that is not known. */
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
  const host = theHost();
  const now = host.runtime.now();
  if (turnedAt === -Infinity) watchTurn(host, now);
  return now - turnedAt < everyMs ? undefined : giveWay(host, signal);
}

/** Notes when this turn of the event loop began to compute, and forgets it when the loop turns. */
function watchTurn(host: Host, now: number): void {
  turnedAt = now;
  nextTurn(host, () => {
    turnedAt = -Infinity;
  });
}

function giveWay(host: Host, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    nextTurn(host, () => {
      turnedAt = -Infinity;
      if (signal.aborted) reject(signal.reason);
      else resolve();
    });
  });
}

/** Runs `fn` when other work has had its turn. */
function nextTurn(host: Host, fn: () => void): void {
  if (host.nextTurn === undefined) host.runtime.after(0, fn);
  else host.nextTurn(fn);
}
