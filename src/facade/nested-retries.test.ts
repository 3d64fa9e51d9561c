// Case 037, within one process: layers of retries do not multiply, unless somebody asks for it.
import { describe, expect, it } from "vitest";
import { immediately, type RetryOptions } from "../core/index.ts";
import { VirtualRuntime } from "../testing/index.ts";
import { dependency } from "./index.ts";

const runtime = new VirtualRuntime();
const layer = (name: string, retry: RetryOptions | null = {}, more: object = {}) =>
  dependency({ name, budget: "none" }, runtime).operation("call", {
    idempotent: true,
    ...more,
    ...(retry !== null && { retry: { attempts: 3, backoff: immediately, ...retry } }),
  });

/** A leaf that always fails, and how often it was asked. */
function leaf(error: () => unknown = () => new Error("leaf")) {
  const seen = { calls: 0 };
  const work = async (): Promise<never> => {
    seen.calls++;
    throw error();
  };
  return { seen, work };
}

describe("retries within retries", () => {
  it("leave it to the innermost layer: 3 calls of the leaf, not 27", async () => {
    const { seen, work } = leaf();
    const [top, middle, bottom] = [layer("top"), layer("middle"), layer("bottom")];
    const outcome = await top.outcome(() => middle(() => bottom(work)));
    expect(seen.calls).toBe(3);
    expect(outcome).toMatchObject({
      kind: "failed",
      error: new Error("leaf"),
      exhausted: true,
      stoppedBy: { by: "retry", reason: "tried again further down" },
    });
  });

  it("multiply where that is asked for", async () => {
    const { seen, work } = leaf();
    const [top, middle, bottom] = [
      layer("top", { nested: "allow" }),
      layer("middle", { nested: "allow" }),
      layer("bottom"),
    ];
    await expect(top(() => middle(() => bottom(work)))).rejects.toThrow("leaf");
    expect(seen.calls).toBe(27);
  });

  it("are told of an error that somebody wrapped", async () => {
    const { seen, work } = leaf();
    const [top, bottom] = [layer("top"), layer("bottom")];
    const wrapping = async (): Promise<never> => {
      try {
        return await bottom(work);
      } catch (cause) {
        throw new Error("the page could not be made", { cause });
      }
    };
    await expect(top(wrapping)).rejects.toThrow("the page could not be made");
    expect(seen.calls).toBe(3);
  });

  it("are told of a timeout, and by whatever the layer below judges its replies", async () => {
    const timed = layer("bottom", {}, { attemptTimeoutMs: 10 });
    const top = layer("top", {}, { classify: () => undefined });
    let calls = 0;
    const hangs = (): Promise<never> => {
      calls++;
      return new Promise(() => {});
    };
    const failed = expect(top(() => timed(hangs))).rejects.toThrow("given up after 10 ms");
    for (let i = 0; i < 100; i++) {
      runtime.advance(1);
      await null;
    }
    await failed;
    expect(calls).toBe(3);
  });

  it("repeat what a call below does not try again itself: it has no retry, or is another's", async () => {
    const { seen, work } = leaf();
    const [top, bottom] = [layer("top"), layer("bottom", null)];
    await expect(top(() => bottom(work))).rejects.toThrow("leaf");
    expect(seen.calls).toBe(3);
  });

  it("are not misled by one error that is thrown again and again", async () => {
    const always = Object.freeze(new Error("always the same"));
    const { seen, work } = leaf(() => always);
    const alone = layer("alone");
    for (let call = 1; call <= 3; call++) {
      await expect(alone(work)).rejects.toBe(always);
      expect(seen.calls).toBe(3 * call);
    }
  });

  it("are not misled by it while other calls give up, too", async () => {
    const always = new Error("always the same");
    const { seen, work } = leaf(() => always);
    const [alone, other] = [layer("alone"), layer("other")];
    await expect(alone(work)).rejects.toBe(always);
    const meanwhile = async (): Promise<never> => {
      await other(leaf().work).catch(() => {});
      return work();
    };
    await expect(alone(meanwhile)).rejects.toBe(always);
    expect(seen.calls).toBe(6);
  });

  it("survive what is no object, and an error whose cause cannot be read", async () => {
    const poisoned = Object.defineProperty(new Error("poisoned"), "cause", {
      get: () => {
        throw new Error("no");
      },
    });
    for (const error of [poisoned, "text", null, 7]) {
      const { seen, work } = leaf(() => error);
      const [top, bottom] = [layer("top"), layer("bottom")];
      await expect(top(() => bottom(work))).rejects.toBe(error);
      // What is no object has no identity by which it could be known again.
      expect(seen.calls).toBe(typeof error === "object" && error !== null ? 3 : 9);
    }
  });
});
