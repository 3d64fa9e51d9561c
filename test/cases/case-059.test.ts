// Case 059: a clean-up chain creates a second, unhandled rejection.
import { expect, it } from "vitest";
import { runSource } from "../../scripts/lib/bundle.mjs";

it("case 059: under all guards at once a rejection reaches the caller once, and nobody else", async () => {
  const { code, stdout, stderr } = await runSource(
    `
    import { dependency } from "~/src/index.ts";
    import { NodeRuntime } from "~/src/node/runtime.ts";
    const unhandled = [];
    process.on("unhandledRejection", (reason) => unhandled.push(reason));
    const runtime = new NodeRuntime();
    const stock = dependency(
      { name: "stock", bulkhead: { limit: 50, queue: { maxWaiting: 50 } }, rateLimit: { limit: 1e6 }, adaptiveThrottle: {} },
      runtime,
    );
    const view = stock.operation("view", {
      idempotent: true,
      attemptTimeoutMs: 10_000,
      totalTimeoutMs: 30_000,
      coalesce: {},
      retry: { attempts: 3, backoff: { kind: "constant", delayMs: 1 } },
      hedge: { delayMs: 2 },
      breaker: { window: { calls: 1_000 } },
      fallback: () => Promise.reject(new Error("the fallback, too")),
    });
    const { signal } = new AbortController();
    const heard = [];
    const fails = async ({ signal }) => {
      signal.addEventListener("abort", () => {});
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new Error("down");
    };
    const calls = Array.from({ length: 20 }, (_, i) =>
      view(fails, { signal, key: "k" + (i % 15) }).catch((error) => heard.push(error.message)));
    await Promise.all(calls);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const late = process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
    console.log(heard.length, [...new Set(heard)].join(), unhandled.length, runtime.pending, late, view.abandoned);
  `,
    ["--unhandled-rejections=warn"],
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "20 down 0 0 0 0\n", stderr: "" });
});
