import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { constant } from "../core/index.ts";
import { VirtualRuntime } from "../testing/index.ts";
import { dependency } from "./index.ts";

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;
const forever = (): Promise<never> => new Promise<never>(() => {});

function made() {
  const runtime = new VirtualRuntime();
  const stock = dependency({ name: "stock", bulkhead: { limit: 1, queue: { maxWaiting: 9 } } }, runtime);
  const view = stock.operation("view", {
    idempotent: true,
    attemptTimeoutMs: 1000,
    retry: { backoff: constant(500) },
  });
  return { runtime, stock, view };
}

describe("a caller's signal", () => {
  it("sends nothing when it has fired before", async () => {
    const { view } = made();
    let sent = 0;
    const signal = AbortSignal.abort("too late");
    await expect(view(() => sent++, { signal })).rejects.toBe("too late");
    expect([sent, listenersOf(signal)]).toEqual([0, 0]);
  });

  it.each(["in flight", "queued", "backing off"])(
    "cancels a call that is %s, at once and with its reason",
    async (stage) => {
      const { runtime, stock, view } = made();
      const controller = new AbortController();
      const { signal } = controller;
      if (stage === "queued") void view(forever);
      const work = stage === "backing off" ? () => Promise.reject(new Error("no")) : forever;
      const call = view(work, { signal });
      await new Promise((resolve) => setImmediate(resolve));
      expect(listenersOf(signal)).toBe(1);
      controller.abort("gone");
      await expect(call).rejects.toBe("gone");
      expect([listenersOf(signal), stock.bulkhead?.waiting]).toEqual([0, 0]);
      if (stage !== "queued") expect(runtime.pending).toBe(0);
    },
  );

  it("cancels the call whose own work fires it, before that has returned", async () => {
    const { view } = made();
    const controller = new AbortController();
    const call = view(
      () => {
        controller.abort("by the work");
        return forever();
      },
      { signal: controller.signal },
    );
    await expect(call).rejects.toBe("by the work");
    expect(listenersOf(controller.signal)).toBe(0);
  });

  it("is given to a call once, though the caller and its parent have the same", async () => {
    const { view } = made();
    const controller = new AbortController();
    const inner: Promise<unknown>[] = [];
    const outer = dependency({ name: "outer" }, new VirtualRuntime()).operation("op");
    const call = outer(
      (parent) => {
        inner.push(view(forever, { parent, signal: controller.signal }));
        return forever();
      },
      { signal: controller.signal },
    );
    controller.abort("gone");
    await expect(call).rejects.toBe("gone");
    await expect(inner[0]).rejects.toBe("gone");
    expect(listenersOf(controller.signal)).toBe(0);
  });

  it("is left alone by calls that have ended, and leaves them alone", async () => {
    const { view } = made();
    const controller = new AbortController();
    expect(await view(() => "done", { signal: controller.signal })).toBe("done");
    expect(await view(async () => "later", { signal: controller.signal })).toBe("later");
    expect(listenersOf(controller.signal)).toBe(0);
    controller.abort();
  });
});
