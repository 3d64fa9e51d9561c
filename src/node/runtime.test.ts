import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { runSource } from "../../scripts/lib/bundle.mjs";
import { SeededRandom } from "../core/random.ts";
import { MAX_TIMER_MS, Timer } from "../core/runtime.ts";
import { NodeRuntime } from "./runtime.ts";

class Recorder extends Timer {
  readonly #fired: () => void;

  constructor(fired: () => void) {
    super();
    this.#fired = fired;
  }

  override fire(): void {
    this.#fired();
  }
}

/** Until `done` holds. No limit of its own: the suite has one. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe("NodeRuntime", () => {
  it("fires no timer in the async context of whoever happened to set Node's own", async () => {
    const request = new AsyncLocalStorage<string>();
    const runtime = new NodeRuntime();
    const seen: (string | undefined)[] = [];
    for (const name of ["first", "second"]) {
      for (const delayMs of [5, 20]) {
        request.run(name, () => void runtime.after(delayMs, () => seen.push(request.getStore())));
      }
    }
    await until(() => seen.length === 4);
    expect(seen).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("never fires early by its own clock, and those of one millisecond in the order of arming", async () => {
    const runtime = new NodeRuntime();
    const random = new SeededRandom(3);
    const fired: { dueAt: number; order: number }[] = [];
    let early = 0;
    const startAt = runtime.now();
    for (let order = 0; order < 500; order++) {
      const dueAt = startAt + random.next() * 40;
      const timer = new Recorder(() => {
        if (runtime.now() < dueAt) early++;
        fired.push({ dueAt: Math.ceil(dueAt), order });
      });
      runtime.arm(timer, dueAt);
    }
    await until(() => fired.length === 500);
    expect(early).toBe(0);
    expect(runtime.pending).toBe(0);
    const sameMs = fired.filter(({ dueAt, order }, at) => {
      const before = fired[at - 1];
      return before !== undefined && before.dueAt === dueAt && before.order > order;
    });
    expect(sameMs).toEqual([]);
  });

  it("waits again when Node's own timer was early", async () => {
    const runtime = new NodeRuntime();
    let early = 0;
    for (let i = 0; i < 20; i++) {
      const dueAt = runtime.now() + 1 + i / 20;
      let fired = false;
      runtime.arm(
        new Recorder(() => {
          if (runtime.now() < dueAt) early++;
          fired = true;
        }),
        dueAt,
      );
      await until(() => fired);
    }
    expect(early).toBe(0);
  });

  it("stops a timer, moves it when it is armed again, and lets the sooner overtake", async () => {
    const runtime = new NodeRuntime();
    const order: string[] = [];
    const now = runtime.now();
    const [stopped, moved, soon] = ["stopped", "moved", "soon"].map(
      (name) => new Recorder(() => order.push(name)),
    );
    runtime.arm(stopped as Recorder, now + 5);
    runtime.arm(moved as Recorder, now + 1);
    runtime.arm(moved as Recorder, now + 15);
    runtime.arm(soon as Recorder, now + 10);
    expect(runtime.pending).toBe(3);
    runtime.cancel(stopped as Recorder);
    runtime.cancel(stopped as Recorder);
    expect(runtime.pending).toBe(2);
    await until(() => order.length === 2);
    expect(order).toEqual(["soon", "moved"]);
  });

  it("asks Node for no timer longer than it can keep", async () => {
    const warnings: string[] = [];
    const listen = (warning: Error): void => void warnings.push(warning.name);
    process.on("warning", listen);
    const runtime = new NodeRuntime();
    let fired = 0;
    const far = [new Recorder(() => fired++), new Recorder(() => fired++)];
    runtime.arm(far[0] as Recorder, runtime.now() + MAX_TIMER_MS);
    runtime.arm(far[1] as Recorder, runtime.now() + 1e12);
    let near = false;
    runtime.after(5, () => {
      near = true;
    });
    await until(() => near);
    expect(fired).toBe(0);
    for (const timer of far) runtime.cancel(timer);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", listen);
    expect(warnings).toEqual([]);
  });

  it("keeps the caller's async context", () => {
    const storage = new AsyncLocalStorage<string>();
    const runtime = new NodeRuntime();
    const context = storage.run("caller", () => runtime.context());
    let seen: string | undefined;
    context?.runInAsyncScope(
      () => {
        seen = storage.getStore();
      },
      null,
      undefined,
    );
    expect(seen).toBe("caller");
    expect(storage.getStore()).toBeUndefined();
  });

  it("draws the same numbers when it is given a seed", () => {
    const draw = (seed: number): number => new NodeRuntime({ seed }).random.fork("a").next();
    expect(draw(1)).toBe(draw(1));
    expect(draw(1)).not.toBe(draw(2));
  });
});

describe("a process", () => {
  it("ends by itself when nothing is armed any more, though a long timeout was", async () => {
    const { code, stdout, stderr } = await runSource(`
      import { dependency } from "~/src/index.ts";
      import { NodeRuntime } from "~/src/node/runtime.ts";
      const runtime = new NodeRuntime();
      const view = dependency({ name: "stock" }, runtime).operation("view", { attemptTimeoutMs: 3_600_000 });
      for (let i = 0; i < 10; i++) await view(() => new Promise((resolve) => setTimeout(resolve, 1, i)));
      console.log(await view(() => "done"), runtime.pending);
    `);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "done 0\n", stderr: "" });
  });

  it("stays alive for a backoff, though nothing else is going on", async () => {
    const { code, stdout, stderr } = await runSource(`
      import { constant, dependency } from "~/src/index.ts";
      import { NodeRuntime } from "~/src/node/runtime.ts";
      let attempts = 0;
      const runtime = new NodeRuntime();
      const view = dependency({ name: "stock" }, runtime).operation("view", {
        idempotent: true,
        attemptTimeoutMs: 1000,
        retry: { backoff: constant(30) },
      });
      view(() => {
        if (++attempts < 3) throw new Error("not yet");
        return attempts;
      }).then((value) => console.log("attempt", value));
    `);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "attempt 3\n", stderr: "" });
  });

  it("hears of a listener's error as of any callback's, and the call goes on", async () => {
    const { code, stdout } = await runSource(`
      import { dependency } from "~/src/index.ts";
      import { NodeRuntime } from "~/src/node/runtime.ts";
      const runtime = new NodeRuntime();
      runtime.sink = () => { throw new Error("a listener's"); };
      const heard = new Set();
      process.on("uncaughtException", (error) => heard.add(error.message));
      console.log(await dependency({ name: "stock" }, runtime).operation("view")(() => "done"));
      setTimeout(() => console.log([...heard].join()), 10);
    `);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\na listener's\n" });
  });
});
