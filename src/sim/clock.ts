/** The one place where the models set a timer. */
import type { Runtime, Timer } from "../core/runtime.ts";

/** Fires `timer` in `delayMs`. */
export function wake(runtime: Runtime, timer: Timer, delayMs: number): void {
  runtime.arm(timer, runtime.now() + delayMs);
}
