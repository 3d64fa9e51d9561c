/** What this process takes in each second: CPU, and how late its event loop is. A starved one is no result. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Vital } from "./process.ts";

/** The monitor's own clock, ms: its timer is late by no more than that in an idle process. */
const RESOLUTION_MS = 5;

/** Reads what happened since the last reading. */
export class Vitals {
  readonly all: [number, Vital][] = [];
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #cpu = process.cpuUsage();
  #at = performance.now();

  constructor() {
    this.#delay.enable();
  }

  /** Writes down the time since the last reading as `second`. */
  read(second: number): void {
    const now = performance.now();
    const { user, system } = process.cpuUsage(this.#cpu);
    const cpu = (user + system) / 1000 / (now - this.#at);
    const late = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS);
    const lagMs = late(this.#delay.percentile(99));
    this.all.push([second, { cpu, lagMs, maxLagMs: late(this.#delay.max) }]);
    this.#cpu = process.cpuUsage();
    this.#at = now;
    this.#delay.reset();
  }
}
