// Case 071: a permit is released twice.
import { expect, it } from "vitest";
import type { Attempt } from "../../src/core/index.ts";
import { Bulkhead, bulkhead } from "../../src/core/index.ts";
import { dependency } from "../../src/facade/index.ts";
import { virtualTime } from "../../src/node/testing/index.ts";
import { Lab } from "../lib/lab.ts";

it("case 071: completion and close both give back: in flight is never below 0, and never are two admitted", async () => {
  const time = virtualTime();
  const stock = dependency({ name: "stock", bulkhead: { limit: 1 } }, time.runtime);
  const view = stock.operation("view");
  const held = (): number | undefined => stock.bulkhead?.gate.held;
  let release = (): void => {};
  const first = view(async (attempt) => {
    release = attempt.hold(); // a body
    return "head";
  });
  await first;
  expect(held()).toBe(1);
  for (let again = 0; again < 3; again++) {
    release();
    expect(held()).toBe(0);
  }
  const running: Attempt[] = [];
  const next = [1, 2].map(() =>
    view.outcome((attempt) => new Promise<void>(() => void running.push(attempt))),
  );
  release();
  expect([running.length, held()]).toEqual([1, 1]);
  expect(await next[1]).toMatchObject({ kind: "rejected", by: "bulkhead" });
});

it("case 071: a close that comes twice does not stand for the work, which goes on", () => {
  const lab = new Lab();
  const cap = new Bulkhead({ limit: 1 }, lab.runtime);
  const stack = lab.stack([bulkhead(cap)]);
  const [attempt] = lab.start(stack, lab.hangs).sent;
  const release = attempt?.hold() ?? (() => {});
  release();
  release();
  expect(cap.gate.held).toBe(1);
  expect(lab.start(stack, lab.hangs).answers).toMatchObject([{ kind: "rejected" }]);
  attempt?.succeed(1);
  expect(cap.gate.held).toBe(0);
});

it("case 071: work that ends twice gives its place back once", () => {
  const lab = new Lab();
  const cap = new Bulkhead({ limit: 2 }, lab.runtime);
  const stack = lab.stack([bulkhead(cap)]);
  const other = lab.start(stack, lab.hangs);
  const call = lab.start(stack, lab.hangs);
  call.sent[0]?.succeed(1);
  call.sent[0]?.succeed(2);
  call.sent[0]?.fail(new Error("a third time"));
  expect([cap.gate.held, call.answers.length]).toEqual([1, 1]);
  other.process.cancel("gone");
  other.sent[0]?.succeed(1);
  other.sent[0]?.succeed(1);
  expect(cap.gate.held).toBe(0);
});
