import { describe, expect, it } from "vitest";
import { Lab } from "../../../test/lib/lab.ts";
import { PLAIN_CALL } from "../call.ts";
import { aimd } from "../concurrency-limit/machine.ts";
import { OptionError } from "../errors.ts";
import { DependencyPolicy } from "../policy.ts";

/** A dependency whose calls hang until their time is over. */
function made(bulkhead: object, own: object = {}) {
  const lab = new Lab();
  const perform = (attempt: { succeed(value: unknown): void; runtime: typeof lab.runtime }): void => {
    attempt.runtime.after(10, () => attempt.succeed(0));
  };
  const store = new DependencyPolicy({ name: "store", bulkhead } as never, lab.runtime, perform as never);
  const read = store.operation("read", own);
  const answers: string[] = [];
  const call = (key: string, tenant = ""): void => {
    const fields = { ...PLAIN_CALL, key, tenant };
    const answered = (exit: { kind: string; reason?: string }): void => {
      answers.push(
        `${key}${tenant} ${exit.kind === "rejected" ? exit.reason : exit.kind} ${lab.runtime.now()}`,
      );
    };
    read.start(null, fields, Infinity, { answered } as never);
  };
  return { lab, store, call, answers };
}

describe("a bulkhead for each key", () => {
  it("takes no place of another key's, and has a queue of its own", () => {
    const { lab, call, answers, store } = made({
      limit: 1,
      queue: { maxWaiting: 1, maxWaitMs: 100 },
      perKey: {},
    });
    for (const key of ["a", "a", "a", "b"]) call(key);
    expect(store.bulkheads?.of("a")).toMatchObject({ gate: { held: 1 }, waiting: 1 });
    lab.runtime.runToIdle();
    expect(answers).toEqual(["a queue full 0", "a ok 10", "b ok 10", "a ok 20"]);
    expect([store.bulkhead, store.bulkheads?.size, lab.runtime.pending]).toEqual([null, 2, 0]);
  });

  it("can go by tenant", () => {
    const { lab, call, answers } = made({ limit: 1, perKey: { by: "tenant" } });
    for (const key of ["x", "y"]) call(key, "!");
    lab.runtime.runToIdle();
    expect(answers).toEqual(["y! full 0", "x! ok 10"]);
  });

  it("is not forgotten while a place is held, so its limit holds", () => {
    const { lab, call, answers } = made({ limit: 1, perKey: { maxKeys: 4 } });
    call("a");
    for (let i = 0; i < 50; i++) call(`other ${i}`);
    call("a");
    expect(answers).toEqual(["a full 0"]);
    lab.runtime.runToIdle();
    expect(answers).toHaveLength(52);
  });

  it("stands beside a cap for all, and learns for each key by itself", () => {
    const { lab, call, answers, store } = made(
      { limit: 2 },
      { bulkhead: { limit: aimd({ initial: 1 }), perKey: {} } },
    );
    for (const key of ["a", "a", "b", "c"]) call(key);
    lab.runtime.runToIdle();
    expect(answers.toSorted()).toEqual(["a full 0", "a ok 10", "b ok 10", "c full 0"]);
    expect(store.bulkhead?.gate.held).toBe(0);
  });

  it("refuses wrong options by name, before any key comes", () => {
    expect(() => made({ limit: 0, perKey: {} })).toThrow("store.bulkhead.limit");
    expect(() => made({ limit: 1, perKey: { maxKeys: 1 } })).toThrow("store.bulkhead.perKey.maxKeys");
    expect(() => made({ limit: 1, perKey: null })).toThrow(OptionError);
    expect(() =>
      made(
        { limit: 1, queue: { maxWaiting: 1 }, perKey: {} },
        { bulkhead: { limit: 1, queue: { maxWaiting: 1 } } },
      ),
    ).toThrow("one queue among neighbours");
  });
});
