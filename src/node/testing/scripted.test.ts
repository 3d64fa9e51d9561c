import { expect, it } from "vitest";
import { OptionError } from "../../core/index.ts";
import { dependency } from "../../facade/index.ts";
import { type Step, scripted, virtualTime } from "./index.ts";

const retried = {
  idempotent: true,
  attemptTimeoutMs: 100,
  totalTimeoutMs: 1_000,
  retry: { attempts: 4, backoff: { kind: "constant", delayMs: 10 } },
} as const;

it("does what each step says, and remembers each attempt", async () => {
  const time = virtualTime();
  const view = dependency({ name: "stock" }, time.runtime).operation("view", retried);
  const work = scripted<string>([
    { error: new Error("503"), afterMs: 20 },
    { hangs: true },
    { error: new Error("at once") },
    { value: "here", afterMs: 5 },
  ]);
  expect(await time.run(() => view(work, { key: "de", idempotencyKey: "k" }))).toBe("here");
  const common = { key: "de", idempotencyKey: "k" };
  expect(work.attempts).toEqual([
    { ...common, number: 1, kind: "original", at: 0, deadline: 100, endedAt: 20 },
    { ...common, number: 2, kind: "retry", at: 30, deadline: 130, endedAt: 130 },
    { ...common, number: 3, kind: "retry", at: 140, deadline: 240, endedAt: 140 },
    { ...common, number: 4, kind: "retry", at: 150, deadline: 250, endedAt: 155 },
  ]);
});

it("repeats its last step, and answers synchronously where no time is given", async () => {
  const time = virtualTime();
  const view = dependency({ name: "stock" }, time.runtime).operation("view");
  const work = scripted([{ value: 1 }, { value: 2 }]);
  const answers = [await view(work), await view(work), await view(work)];
  expect(answers).toEqual([1, 2, 2]);
  expect(work({ runtime: time.runtime, call: {}, number: 1 } as never)).toBe(2);
  expect(work.attempts.map(({ deadline, endedAt }) => [deadline, endedAt])[0]).toEqual([Infinity, 0]);
});

it("goes on when it was given up, if it is told to ignore its signal", async () => {
  const time = virtualTime();
  const view = dependency({ name: "stock", bulkhead: { limit: 1 } }, time.runtime).operation("view", {
    attemptTimeoutMs: 50,
  });
  const deaf = scripted([{ value: 1, afterMs: 200, ignoresSignal: true }]);
  await expect(time.run(() => view(deaf))).rejects.toMatchObject({ code: "PLIMSOLL_TIMEOUT" });
  expect([deaf.attempts[0]?.endedAt, view.abandoned]).toEqual([null, 1]);
  await expect(time.run(() => view(deaf))).rejects.toMatchObject({ by: "bulkhead" });
  await time.advance(150);
  expect([deaf.attempts[0]?.endedAt, view.abandoned]).toEqual([200, 0]);
});

it("stands inside a work of one's own", async () => {
  const time = virtualTime();
  const view = dependency({ name: "stock" }, time.runtime).operation("view");
  const work = scripted([{ value: { left: 3 }, afterMs: 5 }]);
  expect(await time.run(() => view(async (attempt) => (await work(attempt)).left))).toBe(3);
});

it.each<[string, unknown]>([
  ["scripted.steps", []],
  ["scripted.steps", undefined],
  ["scripted.steps[0]", [{}]],
  ["scripted.steps[0]", [{ value: 1, error: 2 }]],
  ["scripted.steps[1]", [{ value: 1 }, { value: 1, hangs: true }]],
  ["scripted.steps[0].hangs", [{ hangs: false }]],
  ["scripted.steps[0].afterMs", [{ value: 1, afterMs: NaN }]],
  ["scripted.steps[0].ignoresSignal", [{ value: 1, ignoresSignal: "no" }]],
  ["scripted.steps[0].failMs", [{ failMs: 1 }]],
])("refuses wrong steps by name: %s", (field, steps) => {
  const making = (): unknown => scripted(steps as Step<number>[]);
  expect(making).toThrow(OptionError);
  expect(making).toThrow(`${field} is`);
});
