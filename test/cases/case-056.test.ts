// Case 056: combined signals leak.
import { expect, it } from "vitest";
import { runSource } from "../../scripts/lib/bundle.mjs";

it("case 056: 1,000,000 signals, each of a caller's and a timeout, leave the heap flat and no handler", {
  timeout: 120_000,
}, async () => {
  const { code, stdout, stderr } = await runSource(
    `
    import { getEventListeners } from "node:events";
    import { dependency } from "~/src/index.ts";
    import { NodeRuntime } from "~/src/node/runtime.ts";
    const runtime = new NodeRuntime();
    const view = dependency({ name: "stock" }, runtime).operation("view", { attemptTimeoutMs: 60_000 });
    const { signal } = new AbortController();
    let most = 0;
    let aborted = 0;
    const work = async (attempt) => { if (attempt.signal.aborted) aborted++; };
    const heaps = [];
    for (let round = 0; round <= 10; round++) {
      if (round > 0)
        for (let batch = 0; batch < 1_000; batch++) {
          const calls = Array.from({ length: 100 }, () => view(work, { signal }));
          most = Math.max(most, getEventListeners(signal, "abort").length);
          await Promise.all(calls);
          if (batch % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
      gc();
      heaps.push(process.memoryUsage().heapUsed);
    }
    const grown = heaps.at(-1) - heaps[1];
    console.log(aborted, most, getEventListeners(signal, "abort").length, runtime.pending, grown < 3_000_000);
  `,
    ["--expose-gc"],
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "0 1 0 0 true\n", stderr: "" });
});
