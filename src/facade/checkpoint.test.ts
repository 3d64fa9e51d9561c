import { expect, it } from "vitest";
import { VirtualRuntime } from "../testing/index.ts";
import { checkpoint } from "./checkpoint.ts";
import { plugHost } from "./host.ts";

it("gives way by the host's clock, with a timer where the platform has nothing better", async () => {
  const runtime = new VirtualRuntime();
  plugHost({ runtime, ambient: () => undefined });
  const controller = new AbortController();
  expect(checkpoint(controller.signal)).toBeUndefined();
  const paused = checkpoint(controller.signal, { everyMs: 0 });
  expect(runtime.pending).toBe(2); // the end of this turn, and of the pause
  controller.abort(new Error("gone"));
  runtime.runToIdle();
  await expect(paused).rejects.toThrow("gone");
});
