// Case 019: back-off turns NaN or negative after about 1,025 attempts.
import { expect, it } from "vitest";
import { Backoff, type BackoffSpec, SeededRandom } from "../../src/core/index.ts";

const kinds = ["exponential", "fullJitter", "equalJitter", "decorrelatedJitter"] as const;

it.each(kinds)("case 019: %s is finite and within 0 and the cap on attempts 1 to 5,000", (kind) => {
  const specs: BackoffSpec[] = [
    { kind, baseMs: 1000, capMs: 30_000 },
    { kind, baseMs: 0.5, capMs: 0.5 },
    { kind, capMs: 10 }, // below the default base
  ];
  for (const spec of specs) {
    const { capMs } = spec as { capMs: number };
    const backoff = new Backoff(spec);
    const random = new SeededRandom(1);
    let previous = 0;
    for (let attempt = 1; attempt <= 5000; attempt++) {
      previous = backoff.delayMs(attempt, previous, random);
      if (!(previous >= 0 && previous <= capMs)) expect.fail(`wait ${attempt} is ${previous} of ${capMs}`);
    }
  }
  expect(() => new Backoff({ kind, baseMs: 1000, capMs: 500 })).toThrow(/capMs is 500/);
});
