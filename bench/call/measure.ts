/**
 * Measuring one case in a process of its own, beside the bare call.
 *
 * Batches of sequential awaited calls, the case's and the bare one's in turn, so that whatever else the machine does
 * meets both. The fastest batch is the trustworthy figure on a shared machine; the median shows the contention.
 */
import { BARE, type Case } from "./case.ts";

/** What one process measured. Times are ns a call. */
export interface Measurement {
  readonly minNs: number;
  readonly medianNs: number;
  readonly bareNs: number;
  readonly bareFailureNs: number;
  /** Bytes a call leaves to the garbage collector. */
  readonly bytes: number;
}

const BATCH_MS = 25;
const BATCHES = 12;

/** Runs a case. */
export async function measure({ prepare }: Case): Promise<Measurement> {
  const { call, check } = await prepare();
  const size = await batchSize(call);
  const samples = { call: [] as number[], bare: [] as number[], failure: [] as number[] };
  check();
  for (let i = 0; i < BATCHES; i++) {
    samples.call.push(await batch(call, size));
    samples.bare.push(await batch(BARE.call, 20_000));
    samples.failure.push(await batch(BARE.failure, 2_000));
  }
  check();
  const sorted = [...samples.call].sort((a, b) => a - b);
  return {
    minNs: sorted[0] as number,
    medianNs: sorted[BATCHES >> 1] as number,
    bareNs: Math.min(...samples.bare),
    bareFailureNs: Math.min(...samples.failure),
    bytes: await bytesOf(call),
  };
}

/** Also warms up. */
async function batchSize(call: () => Promise<unknown>): Promise<number> {
  let ns = Infinity;
  for (let i = 0; i < 8; i++) ns = Math.min(ns, await batch(call, 1_000));
  const size = Math.round((BATCH_MS * 1e6) / ns);
  await batch(call, Math.min(size, 20_000));
  return Math.max(100, Math.min(size, 100_000));
}

async function batch(call: () => Promise<unknown>, size: number): Promise<number> {
  const from = process.hrtime.bigint();
  for (let i = 0; i < size; i++) {
    await call();
    if ((i & 63) === 63) await yieldToLoop();
  }
  const ns = Number(process.hrtime.bigint() - from) / size;
  await yieldToLoop();
  return ns;
}

function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What compiled code allocates: a forced collection drops the code, so it is made again before counting. */
async function bytesOf(call: () => Promise<unknown>): Promise<number> {
  const calls = 200;
  const samples: number[] = [];
  globalThis.gc?.();
  await batch(call, 5_000);
  for (let i = 0; i < 15; i++) {
    const before = process.memoryUsage().heapUsed;
    for (let j = 0; j < calls; j++) await call();
    samples.push((process.memoryUsage().heapUsed - before) / calls);
  }
  return Math.round(samples.sort((a, b) => a - b)[7] as number);
}
