import { describe, expect, it } from "vitest";
import { OptionError, type Outcome, RefusedError, TimeoutError } from "../core/index.ts";
import { VirtualRuntime } from "../testing/index.ts";
import { type ShieldOptions, shield } from "./shield.ts";

/** A shield of two places and a second, with what it reconciled, and a step that a test ends. */
function made(more: Partial<ShieldOptions<string, number>> = {}) {
  const runtime = new VirtualRuntime();
  const reconciled: [string, Outcome<number>][] = [];
  const commit = shield<string, number>(
    {
      name: "commit",
      limit: 2,
      timeoutMs: 1_000,
      reconcile: (about, outcome) => reconciled.push([about, outcome]),
      ...more,
    },
    runtime,
  );
  const step = () => {
    let end!: { resolve(value: number): void; reject(error: unknown): void };
    const signals: AbortSignal[] = [];
    const run = (signal: AbortSignal): Promise<number> => {
      signals.push(signal);
      return new Promise((resolve, reject) => {
        end = { resolve, reject };
      });
    };
    return {
      run,
      signals,
      resolve: (value: number) => end.resolve(value),
      reject: (error: unknown) => end.reject(error),
    };
  };
  return { runtime, reconciled, commit, step };
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 8; i++) await Promise.resolve();
};

describe("a shield", () => {
  it("gives what the step gives while its caller stays, and reconciles nothing", async () => {
    const { commit, reconciled } = made();
    expect(await commit(() => 7, { about: "K-42" })).toBe(7);
    await expect(commit(() => Promise.reject(new Error("no")), { about: "K-43" })).rejects.toThrow("no");
    await expect(
      commit(
        () => {
          throw new Error("at once");
        },
        { about: "K-44" },
      ),
    ).rejects.toThrow("at once");
    expect([reconciled, commit.underWay, commit.orphans]).toEqual([[], 0, 0]);
  });

  it("answers a caller that leaves at once, finishes the step, and reconciles it", async () => {
    const { commit, reconciled, step } = made();
    const [own, caller] = [step(), new AbortController()];
    const answer = commit(own.run, { about: "K-42", signal: caller.signal });
    caller.abort(new Error("gone"));
    await expect(answer).rejects.toThrow("gone");
    expect([commit.underWay, commit.orphans]).toEqual([1, 1]);
    expect(own.signals[0]?.aborted).toBe(false);
    own.resolve(9);
    await settle();
    expect(reconciled).toEqual([["K-42", expect.objectContaining({ kind: "ok", value: 9 })]]);
    expect([commit.underWay, commit.orphans]).toEqual([0, 0]);
  });

  it("fires the step's own signal when it takes too long, and holds its place until it ends", async () => {
    const { commit, reconciled, step, runtime } = made();
    const own = step();
    const answer = commit(own.run, { about: "K-42" });
    const refused = expect(answer).rejects.toThrow(TimeoutError);
    runtime.advance(1_000);
    await refused;
    expect([own.signals[0]?.aborted, commit.underWay, commit.orphans]).toEqual([true, 1, 1]);
    own.reject(new Error("rolled back"));
    await settle();
    expect(reconciled[0]?.[1]).toMatchObject({ kind: "failed", error: new Error("rolled back") });
    expect([commit.underWay, commit.orphans, runtime.pending]).toEqual([0, 0, 0]);
  });

  it("is bounded: with all places taken, orphans included, a step is refused before it starts", async () => {
    const { commit, step } = made();
    const caller = new AbortController();
    const steps = [step(), step()];
    const answers = steps.map((each) => commit(each.run, { about: "x", signal: caller.signal }));
    caller.abort(new Error("gone"));
    await Promise.allSettled(answers);
    let ran = false;
    const late = (): number => {
      ran = true;
      return 1;
    };
    const third = commit(late, { about: "y" });
    await expect(third).rejects.toThrow(RefusedError);
    await expect(third).rejects.toThrow("commit.step: refused by shield (full)");
    expect(ran).toBe(false);
    for (const each of steps) each.resolve(1);
    await settle();
    expect(await commit(() => 2, { about: "z" })).toBe(2);
  });

  it("does not begin for a caller that has left, and leaves no listener behind", async () => {
    const { commit } = made();
    await expect(
      commit(() => 1, { about: "a", signal: AbortSignal.abort(new Error("gone")) }),
    ).rejects.toThrow("gone");
    const { signal } = new AbortController();
    let listeners = 0;
    const [add, remove] = [signal.addEventListener, signal.removeEventListener];
    signal.addEventListener = (...all: Parameters<typeof add>) => {
      listeners++;
      return add.apply(signal, all);
    };
    signal.removeEventListener = (...all: Parameters<typeof remove>) => {
      listeners--;
      return remove.apply(signal, all);
    };
    await commit(() => 1, { about: "b", signal });
    expect(listeners).toBe(0);
  });

  it("reports what reconcile throws, and goes on", async () => {
    const error = new Error("no ledger");
    const { commit, step, runtime } = made({
      reconcile: () => {
        throw error;
      },
    });
    const [own, caller] = [step(), new AbortController()];
    const answer = commit(own.run, { about: "a", signal: caller.signal });
    caller.abort();
    await answer.catch(() => {});
    own.resolve(1);
    await settle();
    expect(() => runtime.advance(1)).toThrow(error);
    expect(commit.underWay).toBe(0);
  });

  it("refuses wrong options by name", async () => {
    for (const [more, field] of [
      [{ name: "" }, "shield.name"],
      [{ limit: 0 }, "shield.limit"],
      [{ timeoutMs: Infinity }, "shield.timeoutMs"],
      [{ reconcile: null }, "shield.reconcile"],
      [{ retries: 1 }, "shield.retries"],
    ] as const) {
      expect(() => made(more as never), field).toThrow(OptionError);
      expect(() => made(more as never), field).toThrow(field);
    }
    const { commit } = made();
    await expect(commit(3 as never, { about: "a" })).rejects.toThrow("step");
    await expect(commit(() => 1, { about: "a", signal: 3 as never })).rejects.toThrow("call.signal");
  });
});
