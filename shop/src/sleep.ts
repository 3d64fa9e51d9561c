/** A service's own work in the model: time that passes, as waiting for something that takes no CPU. */

/** Sleeps `ms`, to the nearest whole one. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.round(ms)));
}
