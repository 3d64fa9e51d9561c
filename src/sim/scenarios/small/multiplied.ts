/** What is multiplied: attempts by layers, probes by resources, calls by contention, tails by fan-out. */

import type { BackoffOption } from "../../../core/backoff/machine.ts";
import { exponential, fullJitter, immediately } from "../../../core/backoff/machine.ts";
import { fixed } from "../../../core/breaker/options.ts";
import type { HedgeOptions } from "../../../core/hedge/machine.ts";
import type { OperationPolicy } from "../../../core/policy.ts";
import { VirtualRuntime } from "../../../testing/virtual-runtime.ts";
import { exponential as exponentialMs } from "../../exact.ts";
import { endIn, FAULT, operationOf, rank, type Scenario, start, type Work } from "./scenario.ts";

/** Layers that make three attempts each, one within the other, above something that always fails. */
function leafCalls(layers: number): number {
  const runtime = new VirtualRuntime();
  let calls = 0;
  let work: Work = (attempt) => {
    calls++;
    attempt.fail(FAULT);
  };
  const retry = { attempts: 3, backoff: immediately };
  let outer: OperationPolicy | null = null;
  for (let layer = 0; layer < layers; layer++) {
    const operation = operationOf(runtime, { retry }, { budget: "none" }, `layer ${layer}`);
    const inner = work;
    if (layer === layers - 1) outer = operation;
    else work = (attempt) => start(operation, inner, () => attempt.fail(FAULT));
    if (layer === layers - 1) start(operation, inner);
  }
  if (outer !== null) runtime.runToIdle();
  return calls;
}

/** Retries that multiply. */
export const RETRY_DEPTH: Scenario = {
  name: "retry-depth",
  about:
    "Calls of the lowest layer for one call of the highest, each making three attempts (the Basketly page, Part 3).",
  run: () => ({ threeLayers: leafCalls(3), fiveLayers: leafCalls(5) }),
};

const RESOURCES = 42;
const THREADS = 2;
const PROBED_MS = 240_000;

/** The share of a worker of two threads that waits in probes, while 42 resources hang. */
function probing(seed: number, probeTimeoutMs: number, openMs: number): number {
  const runtime = new VirtualRuntime({ seed });
  const breaker = {
    window: { calls: 1 },
    openMs,
    reopen: fixed(),
    probes: 1,
    probeTimeoutMs,
    perKey: { maxKeys: 2 * RESOURCES },
  };
  const operation = operationOf(runtime, { attemptTimeoutMs: probeTimeoutMs, breaker });
  let waitedMs = 0;
  const hang: Work = (attempt) => {
    const from = runtime.now();
    attempt.onAbort(() => {
      waitedMs += runtime.now() - from;
      attempt.fail(FAULT);
    });
  };
  for (let resource = 0; resource < RESOURCES; resource++) {
    const ask = (): void => {
      start(operation, hang, undefined, `redis ${resource}`);
      if (runtime.now() < PROBED_MS) runtime.after(20, ask);
    };
    ask();
  }
  runtime.runToIdle(20_000_000);
  return waitedMs / (PROBED_MS * THREADS);
}

/** What probes cost. */
export const SEMIAN_PROBES: Scenario = {
  name: "semian-probes",
  about:
    "42 resources hang behind a worker of two threads: its extra use by probes, as a share of it, with 0.25 s and 2 s, and with 50 ms and 30 s (Shopify's published example: 263 % and 4 %, reckoned without the probe's own time).",
  run: (seed) => ({ before: probing(seed, 250, 2_000), after: probing(seed, 50, 30_000) }),
};

/** 100 clients that write one row under an optimistic lock, until all have: attempts made. */
function contending(seed: number, backoff: BackoffOption): { attempts: number; lastAtMs: number } {
  const runtime = new VirtualRuntime({ seed });
  const random = runtime.random.fork("network");
  // About normal, mean 10 ms and deviation 2 ms, as in the source.
  const delay = (): number => 10 + 4 * (random.next() + random.next() + random.next() - 1.5);
  const operation = operationOf(runtime, { retry: { attempts: 100, backoff } }, { budget: "none" });
  let [version, attempts, lastAtMs] = [0, 0, 0];
  const write: Work = (attempt) => {
    attempts++;
    const seen = { version: 0 };
    runtime.after(delay(), () => {
      seen.version = version;
      // The answer comes back, and the write goes out.
      runtime.after(delay() + delay(), () => {
        const wins = seen.version === version;
        if (wins) version++;
        endIn(attempt, delay(), wins);
      });
    });
  };
  const begin = (): void =>
    start(operation, write, (ok, at) => {
      lastAtMs = Math.max(lastAtMs, at);
      if (!ok) begin();
    });
  for (let client = 0; client < 100; client++) begin();
  runtime.runToIdle(10_000_000);
  return { attempts, lastAtMs };
}

/** Contention, and what jitter makes of it. */
export const CONTENTION: Scenario = {
  name: "contention-jitter",
  about:
    "100 clients write one row under an optimistic lock: attempts until all have, with exponential backoff without and with full jitter (AWS Architecture Blog, 2015).",
  run(seed) {
    const growth = { baseMs: 5, capMs: 2_000 };
    const none = contending(seed, exponential(growth));
    const jittered = contending(seed, fullJitter(growth));
    return { attemptsWithout: none.attempts, attemptsWithJitter: jittered.attempts };
  },
};

const KEYS = 1_000;
const FANOUTS = 300;

/** Reads of 1,000 keys each, answered by the slowest: 97 of 100 take a few ms, a few more, and 1 in 1,000 is stuck. */
function fanOut(seed: number, hedge: HedgeOptions | null): { p999Ms: number; extra: number } {
  const runtime = new VirtualRuntime({ seed });
  const random = runtime.random.fork("latencies");
  const latency = (): number => {
    const chance = random.next();
    if (chance < 0.001) return 200 + exponentialMs(300, random);
    return chance < 0.03 ? 8 + exponentialMs(6, random) : 2 + 6 * random.next();
  };
  const operation = operationOf(runtime, hedge === null ? {} : { hedge }, { budget: "none" });
  let sent = 0;
  const read: Work = (attempt) => {
    sent++;
    endIn(attempt, latency());
  };
  const took: number[] = [];
  for (let i = 0; i < FANOUTS; i++) {
    const from = runtime.now();
    let slowest = 0;
    for (let key = 0; key < KEYS; key++)
      start(operation, read, (_ok, at) => {
        slowest = Math.max(slowest, at - from);
      });
    runtime.advance(10_000);
    took.push(slowest);
  }
  return { p999Ms: rank(took, 0.999), extra: sent / (FANOUTS * KEYS) - 1 };
}

/** The tail at scale. */
export const TAIL_AT_SCALE: Scenario = {
  name: "tail-at-scale",
  about:
    "A read of 1,000 keys is as slow as the slowest of them: its P99.9 without and with a hedge after 10 ms, and the extra requests (Dean and Barroso: 1,800 ms, 74 ms, 2 %).",
  run(seed) {
    const [plain, hedged] = [fanOut(seed, null), fanOut(seed, { delayMs: 10 })];
    return { p999WithoutMs: plain.p999Ms, p999HedgedMs: hedged.p999Ms, extraRequests: hedged.extra };
  },
};
