/**
 * What the page's figures need beyond the seconds: distributions and averages over time. Kept only on request,
 * because samples cost memory.
 */
import type { Runtime } from "../../../core/runtime.ts";
import { Ticker, type Ticking } from "../../clock.ts";

/** How often gauges are sampled. */
const SAMPLE_MS = 20;

/** Waits for a connection of the queries that started in one second. */
export interface Waits {
  count: number;
  totalMs: number;
  longestMs: number;
}

/** Samples of a run. Seconds are indexes from the start of the run. */
export class Measures {
  /** How long each answered call to stock took, as shop-api saw it. */
  readonly stockCallsMs: number[] = [];
  /** Requests that shop-api finished, answered or not, by second. */
  readonly finished: number[];
  readonly waits: Waits[];
  /** Busy places of shop-api, averaged over each second. */
  readonly busy: number[];

  constructor(seconds: number) {
    this.finished = new Array(seconds).fill(0);
    this.busy = new Array(seconds).fill(0);
    this.waits = Array.from({ length: seconds }, () => ({ count: 0, totalMs: 0, longestMs: 0 }));
  }

  /** A call to stock was answered. */
  stockCall(tookMs: number): void {
    this.stockCallsMs.push(tookMs);
  }

  /** shop-api has finished a request. */
  requestFinished(now: number): void {
    const index = Math.floor(now / 1000);
    if (index < this.finished.length) this.finished[index] = (this.finished[index] as number) + 1;
  }

  /** A query got its connection at `startedAt`. */
  waitedForConnection(startedAt: number, waitedMs: number): void {
    const waits = this.waits[Math.floor(startedAt / 1000)];
    if (waits === undefined) return;
    waits.count++;
    waits.totalMs += waitedMs;
    if (waitedMs > waits.longestMs) waits.longestMs = waitedMs;
  }
}

/** Samples how many places are busy. */
export class BusySampler implements Ticking {
  readonly #runtime: Runtime;
  readonly #measures: Measures;
  readonly #busy: () => number;
  readonly #ticker: Ticker;

  constructor(runtime: Runtime, measures: Measures, busy: () => number) {
    this.#runtime = runtime;
    this.#measures = measures;
    this.#busy = busy;
    this.#ticker = new Ticker(runtime, this);
    this.#ticker.start(SAMPLE_MS);
  }

  tick(): void {
    const { busy } = this.#measures;
    const index = Math.floor(this.#runtime.now() / 1000);
    if (index >= busy.length) return;
    busy[index] = (busy[index] as number) + (this.#busy() * SAMPLE_MS) / 1000;
    this.#ticker.start(SAMPLE_MS);
  }
}

/** The value below which this share of the samples lies. */
export function percentile(sorted: readonly number[], share: number): number {
  const index = Math.ceil(share * sorted.length) - 1;
  return sorted[Math.max(0, index)] ?? 0;
}
