// Calls made within a call: their work counts as part of the outer attempt's, so its places last as long.
import { describe, expect, it } from "vitest";
import { VirtualRuntime } from "../testing/index.ts";
import { dependency } from "./index.ts";

/** Lets every promise that can settle do so. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await null;
}

/** A page whose work calls a store that ignores its signal, and both caps. */
function nested(holds?: "handler" | "subtree") {
  const runtime = new VirtualRuntime();
  const cap = { limit: 1, ...(holds !== undefined && { holds }) };
  const page = dependency({ name: "page", bulkhead: cap }, runtime);
  const render = page.operation("render", { attemptTimeoutMs: 100 });
  const store = dependency({ name: "store", bulkhead: { limit: 1 } }, runtime);
  const read = store.operation("read", { attemptTimeoutMs: 20 });
  const ends: (() => void)[] = [];
  const outer = render((parent) =>
    // Answers when the read has timed out, while its work goes on.
    read(() => new Promise<void>((end) => ends.push(end)), { parent }).catch(() => "without"),
  );
  return {
    runtime,
    outer,
    end: () => ends[0]?.(),
    places: () => [page, store].map((d) => d.bulkhead?.gate.held),
  };
}

describe("a call within a call", () => {
  it("keeps the place of the outer one until its own work has ended", async () => {
    const { runtime, outer, end, places } = nested();
    runtime.advance(20);
    expect(await outer).toBe("without");
    await settled();
    expect(places()).toEqual([1, 1]);
    end();
    await settled();
    expect(places()).toEqual([0, 0]);
    expect(runtime.pending).toBe(0);
  });

  it("keeps no place that follows the handler alone", async () => {
    const { runtime, outer, end, places } = nested("handler");
    runtime.advance(20);
    expect(await outer).toBe("without");
    await settled();
    expect(places()).toEqual([0, 1]);
    end();
    await settled();
    expect(places()).toEqual([0, 0]);
    expect(runtime.pending).toBe(0);
  });

  it("keeps a place with bytes by the same rule", async () => {
    const runtime = new VirtualRuntime();
    const held: (number | undefined)[] = [];
    for (const holds of ["subtree", "handler"] as const) {
      const bulkhead = { limit: 9, maxBytes: 9, holds };
      const page = dependency({ name: "page", bulkhead }, runtime);
      const read = dependency({ name: "store" }, runtime).operation("read");
      await page.operation("render")((parent) => void read(() => new Promise(() => {}), { parent }), {
        bytes: 5,
      });
      held.push(page.bulkhead?.inFlightBytes);
    }
    expect(held).toEqual([5, 0]);
  });

  it("gives a handler's place back when its body has been read, whatever goes on within", async () => {
    const runtime = new VirtualRuntime();
    const page = dependency({ name: "page", bulkhead: { limit: 1, holds: "handler" } }, runtime);
    const read = dependency({ name: "store" }, runtime).operation("read");
    let close = (): void => {};
    await page.operation("render")((parent) => {
      close = parent.hold();
      void read(() => new Promise(() => {}), { parent });
    });
    expect(page.bulkhead?.gate.held).toBe(1);
    close();
    expect(page.bulkhead?.gate.held).toBe(0);
  });

  it("is given up with the outer one, whose place is free when all has ended", async () => {
    const runtime = new VirtualRuntime();
    const page = dependency({ name: "page", bulkhead: { limit: 1 } }, runtime);
    const render = page.operation("render", { attemptTimeoutMs: 30 });
    const read = dependency({ name: "store" }, runtime).operation("read", { retry: { attempts: 2 } });
    let end = (): void => {};
    const outer = render((parent) =>
      read(
        ({ signal }) =>
          new Promise((done, fail) => {
            end = () => done("late");
            signal.addEventListener("abort", () => runtime.after(5, () => fail(signal.reason)));
          }),
        { parent },
      ),
    );
    const failed = expect(outer).rejects.toThrow("render");
    runtime.advance(30);
    await failed;
    await settled();
    expect([page.bulkhead?.gate.held, render.abandoned]).toEqual([1, 1]);
    runtime.advance(5);
    await settled();
    expect([page.bulkhead?.gate.held, render.abandoned, runtime.pending]).toEqual([0, 0, 0]);
    end();
  });

  it("begun when the outer attempt has ended belongs to nothing", async () => {
    const runtime = new VirtualRuntime();
    const page = dependency({ name: "page", bulkhead: { limit: 1 } }, runtime);
    const read = dependency({ name: "store" }, runtime).operation("read");
    let orphan = Promise.resolve("");
    await page.operation("render")((parent) => {
      runtime.after(5, () => {
        orphan = read(() => "read", { parent });
      });
    });
    runtime.advance(5);
    expect([await orphan, page.bulkhead?.gate.held]).toEqual(["read", 0]);
  });

  it("has its own timeout, not the outer attempt's", async () => {
    const runtime = new VirtualRuntime();
    const page = dependency({ name: "page" }, runtime).operation("render", { attemptTimeoutMs: 100 });
    const options = { idempotent: true, attemptTimeoutMs: 20, hedge: { delayMs: 50 } };
    const read = dependency({ name: "store" }, runtime).operation("read", options);
    const outer = page((parent) => read(() => new Promise(() => {}), { parent }).catch(() => runtime.now()));
    for (let ms = 0; ms < 100; ms++) {
      runtime.advance(1);
      await settled();
    }
    expect(await outer).toBe(20);
  });
});

it("counts what a fallback has left behind as abandoned, too", async () => {
  const runtime = new VirtualRuntime();
  let end = (_: string): void => {};
  const view = dependency({ name: "stock" }, runtime).operation("view", {
    fallback: { run: () => new Promise<string>((done) => (end = done)), timeoutMs: 10 },
  });
  const failed = expect(view(() => Promise.reject(new Error("down")))).rejects.toThrow("down");
  await settled();
  runtime.advance(10);
  await failed;
  expect(view.abandoned).toBe(1);
  end("late");
  await settled();
  expect(view.abandoned).toBe(0);
});
