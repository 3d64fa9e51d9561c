// Case 058: a late rejection after the timeout has won.
import { expect, it } from "vitest";
import { runSource } from "../../scripts/lib/bundle.mjs";

it("case 058: work that rejects after its limit is counted, and is nobody's unhandled rejection", async () => {
  const { code, stdout, stderr } = await runSource(
    `
    import { dependency } from "~/src/index.ts";
    import { NodeRuntime } from "~/src/node/runtime.ts";
    const unhandled = [];
    process.on("unhandledRejection", (reason) => unhandled.push(reason));
    const runtime = new NodeRuntime();
    const view = dependency({ name: "stock" }, runtime).operation("view", { attemptTimeoutMs: 50 });
    const late = [];
    const deaf = () => new Promise((_, reject) => late.push(reject));
    const outcomes = [];
    for (let i = 0; i < 3; i++) outcomes.push(view(deaf).catch((error) => error.name));
    outcomes.push(view.outcome(deaf).then((outcome) => outcome.ended));
    console.log((await Promise.all(outcomes)).sort().join(), view.abandoned);
    for (const reject of late) reject(new Error("late"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    console.log(unhandled.length, view.abandoned, runtime.pending);
  `,
    ["--unhandled-rejections=warn"],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe("TimeoutError,TimeoutError,TimeoutError,timeout 4\n0 0 0\n");
});
