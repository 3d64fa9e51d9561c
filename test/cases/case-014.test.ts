// Case 014: timers and memory for each breaker.
import { expect, it } from "vitest";
import { runSource } from "../../scripts/lib/bundle.mjs";

it("case 014: 10,000 breakers arm no timer, are collected, and let the process end by itself", {
  timeout: 120_000,
}, async () => {
  const { code, stdout, stderr } = await runSource(
    `
    import { dependency } from "~/src/index.ts";
    import { NodeRuntime } from "~/src/node/runtime.ts";
    const runtime = new NodeRuntime();
    const timers = () => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
    const heap = () => (gc(), gc(), process.memoryUsage().heapUsed);
    const useOne = (key) => {
      const view = dependency({ name: "host " + key }, runtime).operation("view", {
        breaker: { window: { ms: 10_000 }, minimumCalls: 1, openMs: 60_000 },
      });
      return view.outcome(async () => { throw new Error("no"); }).then(() => view);
    };
    for (let key = 0; key < 100; key++) await useOne(key); // what is compiled and cached is made now
    const before = heap();
    let kept = [];
    for (let key = 0; key < 10_000; key++) kept.push(await useOne(key));
    const open = kept.filter((view) => view.breaker.state.name === "open").length;
    const armed = [timers(), runtime.pending];
    kept = null;
    await new Promise((resolve) => setImmediate(resolve));
    console.log(open, armed.join(), heap() - before < 2_000_000);
  `,
    ["--expose-gc"],
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "10000 0,0 true\n", stderr: "" });
});
