/** Waiting on a runtime's clock, as a promise that a signal can end. */
import type { Runtime } from "../../core/runtime.ts";

/** Waits `ms`, or for ever if that is `Infinity`. Rejects with the signal's reason when it fires. */
export function pause(runtime: Runtime, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const giveUp = (): void => {
      if (timer !== null) runtime.cancel(timer);
      reject(signal?.reason);
    };
    const ended = (): void => {
      signal?.removeEventListener("abort", giveUp);
      resolve();
    };
    const timer = ms === Infinity ? null : runtime.after(ms, ended);
    signal?.addEventListener("abort", giveUp, { once: true });
  });
}
