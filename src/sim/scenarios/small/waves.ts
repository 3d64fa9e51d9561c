/** What happens at the same instant, and what spreads it: retries after one failure, work at the full minute, probes. */
import { fullJitter } from "../../../core/backoff/machine.ts";
import { fixed, jittered, type ReopenOptions } from "../../../core/breaker/options.ts";
import { nextDue, stableOffset } from "../../../core/periodic/machine.ts";
import { VirtualRuntime } from "../../../testing/virtual-runtime.ts";
import { endIn, FAULT, type Figures, operationOf, type Scenario, start } from "./scenario.ts";

/** How many fall into each slot of `slotMs`. */
function slots(times: readonly number[], slotMs: number, count: number): number[] {
  const found = new Array<number>(count).fill(0);
  for (const at of times) {
    const slot = Math.floor(at / slotMs);
    if (slot < count) found[slot] = (found[slot] as number) + 1;
  }
  return found;
}

/** 1,200 calls fail at once, and are retried within a second. */
export const JITTER: Scenario = {
  name: "jitter",
  about: "1,200 retries at once, full jitter over 1 s, in slots of 10 ms (the Basketly page, Part 4).",
  run(seed) {
    const runtime = new VirtualRuntime({ seed });
    const options = { retry: { attempts: 2, backoff: fullJitter({ baseMs: 1_000, capMs: 1_000 }) } };
    const operation = operationOf(runtime, options, { budget: "none" });
    const retried: number[] = [];
    for (let i = 0; i < 1_200; i++) {
      start(operation, (attempt) => {
        if (attempt.number === 1) return attempt.fail(FAULT);
        retried.push(runtime.now());
        attempt.succeed(0);
      });
    }
    runtime.runToIdle();
    const each = slots(retried, 10, 100);
    return { retries: retried.length, smallestSlot: Math.min(...each), largestSlot: Math.max(...each) };
  },
};

const MINUTE_MS = 60_000;
const AGENTS = 200;
const READS = 50;
/** What the store has to spare, in reads a second. */
const CEILING = 740;
const MINUTES = 5;

/** Agents that read each minute, from a store that serves 740 reads a second, one after the other. */
function periodic(seed: number, offsetOf: (id: string) => number): Figures {
  const runtime = new VirtualRuntime({ seed });
  const queue = { maxWaiting: Infinity, maxWaitMs: Infinity };
  const store = operationOf(runtime, {}, { bulkhead: { limit: 1, queue } });
  const asked: number[] = [];
  let busyUntil = 0;
  const busy: number[] = [];
  for (let agent = 0; agent < AGENTS; agent++) {
    const offset = offsetOf(`agent ${seed}.${agent}`);
    for (let due = nextDue(-1, offset, MINUTE_MS); due < MINUTES * MINUTE_MS; due += MINUTE_MS) {
      runtime.after(due, () => {
        const from = runtime.now();
        for (let i = 0; i < READS; i++) {
          asked.push(from);
          start(
            store,
            (attempt) => endIn(attempt, 1_000 / CEILING),
            (_ok, at) => {
              busy.push(at);
              busyUntil = Math.max(busyUntil, at);
            },
          );
        }
      });
    }
  }
  runtime.runToIdle(10_000_000);
  const seconds = slots(asked, 1_000, MINUTES * 60);
  const served = slots(busy, 1_000, MINUTES * 60 + 60);
  return {
    meanASecond: asked.length / (MINUTES * 60),
    peakASecond: Math.max(...seconds),
    // The last of them is full in part.
    secondsAtCeilingAMinute:
      served.filter((count) => count >= CEILING - 1).length / MINUTES +
      (busyUntil > 0 ? lastPart(served) : 0),
  };
}

/** The part of a second that follows the full ones, averaged over the minutes. */
function lastPart(served: readonly number[]): number {
  let parts = 0;
  for (const [second, count] of served.entries()) {
    const before = served[second - 1] ?? 0;
    if (before >= CEILING - 1 && count < CEILING - 1) parts += count / CEILING;
  }
  return parts / MINUTES;
}

/** Replay P at the same minute. */
export const PERIODIC_SAME: Scenario = {
  name: "P-same",
  about: "200 agents make 50 reads each, all at :00 of the minute; 740 a second can be served (Part 4).",
  run: (seed) => periodic(seed, () => 0),
};

/** Replay P at stable offsets. */
export const PERIODIC_OFFSET: Scenario = {
  name: "P-offset",
  about: "The same agents, each at a stable offset of its own within the minute (Part 4).",
  run: (seed) => periodic(seed, (id) => stableOffset(id, MINUTE_MS)),
};

/** 1,000 clients with an open breaker each, all opened at second 0; probes in slots of 100 ms. */
function herd(seed: number, reopen: ReopenOptions): Figures {
  const runtime = new VirtualRuntime({ seed });
  const probes: number[] = [];
  for (let client = 0; client < 1_000; client++) {
    const breaker = { window: { calls: 1 }, openMs: 5_000, reopen, probes: 1, probeTimeoutMs: 100 };
    const operation = operationOf(runtime, { breaker }, {}, `client ${client}`);
    const ask = (): void =>
      start(operation, (attempt) => {
        if (attempt.kind === "probe") probes.push(runtime.now());
        attempt.fail(FAULT);
      });
    ask();
    for (let at = 4_900; at < 8_000; at += 20) runtime.after(at, ask);
  }
  runtime.runToIdle(10_000_000);
  const first = probes.filter((at) => at < 6_500);
  return { probes: first.length, peakIn100Ms: Math.max(...slots(first, 100, 65)) };
}

/** A herd of probes, and what jitter makes of it. */
export const PROBE_HERD: Scenario = {
  name: "probe-herd",
  about:
    "1,000 clients opened their breakers together: their first probes, with a fixed and with a jittered open time.",
  run(seed) {
    const [together, spread] = [herd(seed, fixed()), herd(seed, jittered(0.2))];
    return {
      fixedPeakIn100Ms: together.peakIn100Ms as number,
      jitteredPeakIn100Ms: spread.peakIn100Ms as number,
    };
  },
};
