// Case 020: back-off above 2^31−1 ms becomes 1 ms.
import { expect, it } from "vitest";
import { runSource } from "../../scripts/lib/bundle.mjs";
import { Backoff, exponential, MAX_TIMER_MS, SeededRandom } from "../../src/core/index.ts";

it("case 020: base 1 s and factor 10 have a finite cap by default, far below what a timer can keep", () => {
  const backoff = new Backoff(exponential({ baseMs: 1000, factor: 10 }));
  expect(backoff.delayMs(8, 0, new SeededRandom(1))).toBe(20_000);
  const longest = new Backoff(exponential({ baseMs: 1000, factor: 10, capMs: MAX_TIMER_MS }));
  expect(longest.delayMs(8, 0, new SeededRandom(1))).toBe(MAX_TIMER_MS);
});

it("case 020: no timer beyond that is ever asked of Node, and nothing is retried early", async () => {
  const { code, stdout, stderr } = await runSource(`
    import { dependency, exponential, failed } from "~/src/index.ts";
    import { NodeRuntime } from "~/src/node/runtime.ts";
    const asked = [];
    const real = globalThis.setTimeout;
    globalThis.setTimeout = (fn, ms, ...more) => (asked.push(ms), real(fn, ms, ...more));
    const runtime = new NodeRuntime();
    const operation = (name, pushback) => dependency({ name: "stock" }, runtime).operation(name, {
      idempotent: true,
      retry: { attempts: 9, backoff: exponential({ baseMs: 2_147_483_647, factor: 10, capMs: 2_147_483_647 }) },
      classify: () => failed("no", "throttling", { pushback }),
    });
    let attempts = 0;
    for (const [name, pushback] of [["a", undefined], ["b", 1e10], ["c", Infinity]])
      operation(name, pushback)(() => { attempts++; return 1; });
    real(() => {
      console.log(attempts, asked.length > 0, asked.every((ms) => ms <= 2_147_483_647));
      process.exit();
    }, 50);
  `);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "3 true true\n", stderr: "" });
});
