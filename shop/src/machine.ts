/** The machine that the shop runs on: how much of it there is, and how busy it is. */
import { availableParallelism, cpus } from "node:os";

/** What can be chosen as scale. */
export const SCALES: Readonly<Record<string, number>> = { "1": 1, "1/2": 0.5, "1/4": 0.25 };

/**
 * The scale for this machine. At 1/4 four processes and PostgreSQL use a little more than one CPU at the worst, and
 * that grows with the scale (docs/truth.md); the load generator needs one that is free when it wants it.
 */
export function scaleFor(cores: number = availableParallelism()): string {
  if (cores >= 8) return "1";
  return cores >= 4 ? "1/2" : "1/4";
}

/** How busy the machine is with whatever runs on it, second by second: 1 for all CPUs. */
export class MachineLoad {
  readonly all: [number, number][] = [];
  #last = times();

  /** Writes down the time since the last reading as `second`. */
  read(second: number): void {
    const now = times();
    const total = now.total - this.#last.total;
    if (total > 0) this.all.push([second, 1 - (now.idle - this.#last.idle) / total]);
    this.#last = now;
  }
}

function times(): { total: number; idle: number } {
  let total = 0;
  let idle = 0;
  for (const { times: each } of cpus()) {
    total += each.user + each.nice + each.sys + each.irq + each.idle;
    idle += each.idle;
  }
  return { total, idle };
}
