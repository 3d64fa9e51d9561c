// Replay H: the database is well, and 1 call to stock in 100 gets stuck for 250 ms before it takes a worker. What a
// timeout with one retry makes of it, and what a hedge does. Durations are those of whole calls, as shop-api saw them.
import { describe } from "vitest";
import { replayBasketly } from "../../src/sim/index.ts";
import { percentile } from "../../src/sim/scenarios/basketly/measures.ts";
import { average, row, SEEDS } from "./runs.ts";

interface Calls {
  readonly tookMs: readonly number[];
  readonly sent: number;
}

function calls(setting: string): () => readonly Calls[] {
  let made: Calls[] | undefined;
  return () => {
    made ??= SEEDS.map((seed) => {
      const tookMs: number[] = [];
      let sent = 0;
      replayBasketly({
        setting,
        seed,
        sink: (event) => {
          if (event.type !== "call.answered" || !event.dependency.endsWith("-> stock")) return;
          tookMs.push(event.durationMs);
          sent += event.sent;
        },
      });
      return { tookMs: tookMs.sort((a, b) => a - b), sent };
    });
    return made;
  };
}

const at = (share: number, runs: readonly Calls[]): number =>
  average(runs.map(({ tookMs }) => percentile(tookMs, share)));

describe("replay H: one call in a hundred gets stuck", () => {
  const [none, retried, hedged] = [calls("H-none"), calls("H-retry"), calls("H-hedge")];
  row("5.g", "60 ms and one retry: P99.9 ms", 66, 72, () => at(0.999, retried()));
  row("5.h", "60 ms and one retry: P99 ms", 25, 62, () => at(0.99, retried()));
  row("5.i", "hedge after the P95: extra calls, %", 4, 6.5, () =>
    average(hedged().map(({ sent, tookMs }) => 100 * (sent / tookMs.length - 1))),
  );
  row("5.j", "no timeout: P99.9 ms", 250, 270, () => at(0.999, none()));
  row("5", "hedge after the P95: P99.9 ms, well under the retry's", 12, 40, () => at(0.999, hedged()));
});
