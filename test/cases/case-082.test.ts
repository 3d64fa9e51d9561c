// Case 082: memory grows with every key ever seen.
import { expect, it } from "vitest";
import { runSource } from "../../scripts/lib/bundle.mjs";

it("case 082: 1,000,000 keys are bounded in number and in memory, and the number can be read", {
  timeout: 120_000,
}, async () => {
  const { code, stdout, stderr } = await runSource(
    `
    import { dependency, stale } from "~/src/index.ts";
    import { NodeRuntime } from "~/src/node/runtime.ts";
    const runtime = new NodeRuntime();
    const view = dependency({ name: "stock" }, runtime).operation("view", {
      idempotent: true,
      coalesce: {},
      breaker: { perKey: { maxKeys: 2_000 } },
      fallback: stale({ maxAgeMs: 3_600_000, maxKeys: 2_000 }),
    });
    const heap = () => (gc(), process.memoryUsage().heapUsed);
    const work = () => "answer";
    const ask = async (from, to) => {
      for (let key = from; key < to; key++) {
        await view(work, { key: "key " + key, tenant: "tenant " + (key % 1_000) });
        if (key % 5_000 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await ask(0, 20_000); // all that is kept is full
    const before = heap();
    await ask(20_000, 1_000_000);
    console.log(view.breakers.size <= 2_000, view.breakers.size > 900, runtime.pending, heap() - before < 3_000_000);
  `,
    ["--expose-gc"],
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "true true 0 true\n", stderr: "" });
});
