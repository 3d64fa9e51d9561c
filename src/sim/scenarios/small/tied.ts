/** Two replicas with a queue each, one of them busy by chance: what a second copy saves, and what it costs. */
import { PLAIN_CALL } from "../../../core/call.ts";
import type { HedgeOptions } from "../../../core/hedge/machine.ts";
import type { OperationPolicy } from "../../../core/policy.ts";
import { VirtualRuntime } from "../../../testing/virtual-runtime.ts";
import { exponential as exponentialMs } from "../../exact.ts";
import { endIn, type Figures, operationOf, rank, type Scenario, start, type Work } from "./scenario.ts";

const REQUESTS = 40_000;
/** One request in 5 ms for two replicas that take 4 ms each: 40 % busy, without any copies. */
const EVERY_MS = 5;
const MEAN_MS = 4;
/** What a message needs on its way: the first copy says within the delay whether it has begun. */
const WIRE_MS = 0.2;

/** A replica: one request at a time, the others wait. It tells the caller when it begins. */
class Replica {
  served = 0;
  private readonly policy: OperationPolicy;
  private readonly takes: () => number;

  constructor(runtime: VirtualRuntime, takes: () => number) {
    const queue = { maxWaiting: Infinity, maxWaitMs: Infinity };
    this.policy = operationOf(runtime, {}, { bulkhead: { limit: 1, queue }, budget: "none" }, "replica");
    this.takes = takes;
  }

  /** Serves an attempt of a caller's, whose cancel is heard after its way over the wire. */
  readonly serve: Work = (attempt) => {
    const { runtime } = attempt;
    const work: Work = (served) => {
      this.served++;
      runtime.after(WIRE_MS, () => attempt.started());
      endIn(served, this.takes());
    };
    const answer = { answered: () => runtime.after(WIRE_MS, () => attempt.succeed(0)) };
    runtime.after(WIRE_MS, () => {
      const call = this.policy.start(work, PLAIN_CALL, Infinity, answer);
      attempt.onAbort((reason) => runtime.after(WIRE_MS, () => call.cancel(reason)));
    });
  };
}

function reads(seed: number, hedge: HedgeOptions | null): { p99Ms: number; servedEach: number } {
  const runtime = new VirtualRuntime({ seed });
  const [times, choice] = [runtime.random.fork("times"), runtime.random.fork("choice")];
  const takes = (): number => exponentialMs(MEAN_MS, times);
  const replicas = [new Replica(runtime, takes), new Replica(runtime, takes)] as const;
  const operation = operationOf(runtime, hedge === null ? {} : { hedge }, { budget: "none" });
  const took: number[] = [];
  const read = (): void => {
    const from = runtime.now();
    const first = choice.next() < 0.5 ? 0 : 1;
    const work: Work = (attempt) =>
      (attempt.kind === "hedge" ? replicas[1 - first] : replicas[first])?.serve(attempt);
    start(operation, work, (_ok, at) => took.push(at - from));
  };
  for (let i = 0; i < REQUESTS; i++) runtime.after(i * EVERY_MS, read);
  runtime.runToIdle(10_000_000);
  const served = replicas[0].served + replicas[1].served;
  return { p99Ms: rank(took, 0.99), servedEach: served / REQUESTS };
}

/** Tied requests. */
export const TIED: Scenario = {
  name: "tied-requests",
  about:
    "Reads from two replicas with a queue each, 40 % busy: their P99 and how often each is served, with one copy, with a second after 1 ms, and with the two tied (The Tail at Scale).",
  run(seed): Figures {
    const plain = reads(seed, null);
    const hedged = reads(seed, { delayMs: 1 });
    const tied = reads(seed, { delayMs: 1, tied: true });
    return {
      p99OneMs: plain.p99Ms,
      p99HedgedMs: hedged.p99Ms,
      p99TiedMs: tied.p99Ms,
      servedHedged: hedged.servedEach,
      servedTied: tied.servedEach,
    };
  },
};
