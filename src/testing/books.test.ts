import { expect, it } from "vitest";
import type { Attempt, Call, PlimsollEvent } from "../core/index.ts";
import { aimd, type OperationOptions, type Token } from "../core/index.ts";
import { dependency } from "../facade/index.ts";
import { scripted, virtualTime } from "../node/testing/index.ts";
import { keepBooks } from "./index.ts";

function worldOf(options: OperationOptions = {}, limit = 5) {
  const time = virtualTime();
  const stock = dependency(
    {
      name: "stock",
      bulkhead: { limit, queue: { maxWaiting: 5, maxWaitMs: 1_000 } },
      budget: { burst: 2, ratio: 0.5 },
    },
    time.runtime,
  );
  const books = keepBooks(time.runtime, [stock]);
  const view = stock.operation("view", { idempotent: true, attemptTimeoutMs: 100, ...options });
  return { time, stock, books, view };
}

it("counts what was sent, repeated, given up and answered", async () => {
  const { time, stock, books, view } = worldOf({
    retry: { attempts: 3, backoff: { kind: "constant", delayMs: 10 } },
  });
  const work = scripted([
    { hangs: true, ignoresSignal: true },
    { error: new Error("no"), afterMs: 20 },
    { value: 1, afterMs: 5 },
  ]);
  const answer = time.run(() => view(work));
  expect(await answer).toBe(1);
  expect(books.of("stock")).toMatchObject({
    firsts: 1,
    repeats: 2,
    running: 1,
    mostAtOnce: 2,
    abandoned: 1,
    answered: 1,
  });
  books.check();
  expect(() => books.checkAtRest()).toThrow(
    "1 attempts of stock were given up and still run; 1 places of stock are held",
  );
  expect(stock.budget?.repeats).toBe(2);
});

it("balances over calls of every end, and is silent at rest", async () => {
  const { time, books, view } = worldOf(
    { retry: { attempts: 2 }, hedge: { delayMs: 30 }, fallback: () => time.sleep(5).then(() => "less") },
    2,
  );
  const steps = [3, 200, 40].flatMap((afterMs) => [
    { value: "whole", afterMs },
    { error: new Error("no"), afterMs },
    { error: Object.assign(new Error("no"), { code: "ECONNREFUSED" }), afterMs },
    { value: "late", afterMs, ignoresSignal: true },
  ]);
  const work = scripted(steps);
  const done = Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      await time.sleep(i * 7);
      const signal = i % 7 === 0 ? AbortSignal.abort() : undefined;
      const controller = new AbortController();
      if (i % 5 === 0) void time.sleep(10).then(() => controller.abort());
      books.check();
      await view.outcome(work, { signal: signal ?? controller.signal }).catch(() => {});
      books.check();
    }),
  );
  await time.run(() => done);
  await time.advance(1_000);
  books.checkAtRest();
  expect(books.of("stock").mostAtOnce).toBe(2);
  expect(books.of("stock").repeats).toBeGreaterThan(0);
});

it("takes back a repeat whose connection failed: it was not sent after all", async () => {
  const { time, stock, books, view } = worldOf({ retry: { attempts: 4 } });
  const refused = scripted([{ error: Object.assign(new Error("no"), { code: "ECONNREFUSED" }), afterMs: 1 }]);
  await time.run(() => view.outcome(refused));
  expect([refused.attempts.length, stock.budget?.repeats]).toEqual([4, 0]);
  expect(books.of("stock")).toMatchObject({ firsts: 1, repeats: 0 });
  books.checkAtRest();
});

it("says that a fallback which was given up is abandoned, and takes no place for it", async () => {
  const { time, books, view } = worldOf({ fallback: { run: () => new Promise(() => {}), timeoutMs: 50 } });
  const work = scripted([{ hangs: true, ignoresSignal: true }]);
  await time.run(() => view.outcome(work));
  expect(books.of("stock")).toMatchObject({ firsts: 1, repeats: 0, running: 1, abandoned: 2 });
  books.check();
});

it("says what is left: calls, waiters, tokens and timers", async () => {
  const { time, books, view } = worldOf(
    { retry: { attempts: 2, backoff: { kind: "constant", delayMs: 50 } } },
    1,
  );
  const first = view(scripted([{ error: new Error("no") }, { value: 1 }]));
  await time.settle();
  const second = view(scripted([{ value: 2, afterMs: 20 }]));
  const third = view(scripted([{ value: 3, afterMs: 20 }]));
  books.check();
  expect(() => books.checkAtRest()).toThrow(
    [
      "the books do not balance: call 1 of stock.view has no answer",
      "call 2 of stock.view has no answer",
      "call 3 of stock.view has no answer",
      "1 places of stock are held",
      "1 calls wait for a place of stock",
      "1 tokens of stock are reserved",
      "4 timers are armed",
    ].join("; "),
  );
  expect(await time.run(() => Promise.all([first, second, third]))).toEqual([1, 2, 3]);
  books.checkAtRest();
});

it("lets a learnt limit fall while places are held", async () => {
  const time = virtualTime();
  const stock = dependency(
    { name: "stock", bulkhead: { limit: aimd({ min: 1, initial: 8, max: 8 }) } },
    time.runtime,
  );
  const books = keepBooks(time.runtime, [stock]);
  const view = stock.operation("view", { attemptTimeoutMs: 50 });
  const deaf = scripted([{ value: 1, afterMs: 500, ignoresSignal: true }]);
  await time.run(() => Promise.all(Array.from({ length: 8 }, () => view.outcome(deaf))));
  expect([stock.bulkhead?.gate.held, (stock.bulkhead?.gate.limit ?? 8) < 8]).toEqual([8, true]);
  books.check();
});

const event = (body: object): PlimsollEvent =>
  ({
    at: 0,
    dependency: "stock",
    operation: "view",
    call: 1,
    attempt: 1,
    kind: "original",
    ...body,
  }) as never;
const sent = event({ type: "attempt.sent", limitMs: null });
const answered = event({ type: "attempt.answered", ending: "ok", durationMs: 1 });
const over = event({ type: "call.answered", ending: "ok", sent: 1, durationMs: 1 });

it.each<[string, PlimsollEvent[]]>([
  ["call 1 of stock.view was answered 2 times", [sent, answered, over, over]],
  ["1 attempts answered, of 0 sent", [answered]],
  ["2 attempts answered, of 1 sent", [sent, answered, answered]],
  ["1 attempts abandoned, of 0 answered", [sent, event({ type: "attempt.abandoned" })]],
  ["1 attempts ended, of 0 abandoned", [sent, answered, event({ type: "attempt.ended", reclaimed: false })]],
  ["0 places held, and 1 attempts run", [sent]],
  [
    "3 repeats sent and 0 reserved, of 2.5 allowed",
    [sent, answered, ...[2, 3, 4].flatMap((attempt) => [{ ...sent, attempt }, answered] as PlimsollEvent[])],
  ],
])("hears what cannot be so: %s", (says, events) => {
  const { time, books } = worldOf();
  for (const each of events) time.runtime.emit(each);
  expect(() => books.check()).toThrow(says);
});

it("hears of more places than there are, and of a token that was not taken", () => {
  const { stock, books } = worldOf({}, 1);
  const plan = { call: { bytes: 0 } as Call } as Attempt;
  stock.bulkhead?.take(plan);
  books.check();
  stock.bulkhead?.take(plan);
  expect(() => books.check()).toThrow("2 places held, of 1");
  const tokens = [1, 2].map(() => stock.budget?.reserve("retry", 0, null) as Token);
  expect(() => books.checkAtRest()).toThrow("2 tokens of stock are reserved");
  for (const token of tokens) token.cancel();
});

it("stops counting when it is closed", async () => {
  const { time, books, view } = worldOf();
  books.close();
  await time.run(() => view(scripted([{ value: 1 }])));
  expect(books.of("stock").firsts).toBe(0);
});

it.each(["handler", "subtree"] as const)(
  "sees calls within calls, where a place holds the %s",
  async (holds) => {
    const time = virtualTime();
    const page = dependency({ name: "page", bulkhead: { limit: 1, holds } }, time.runtime);
    const stock = dependency({ name: "stock", bulkhead: { limit: 1 } }, time.runtime);
    const books = keepBooks(time.runtime, [page, stock]);
    const render = page.operation("render", { attemptTimeoutMs: 50 });
    const view = stock.operation("view");
    const slow = scripted([{ value: 1, afterMs: 500, ignoresSignal: true }]);
    void render.outcome(async (parent) => {
      view.outcome(slow, { parent }).catch(() => {});
      await time.sleep(100);
    });
    await time.advance(120);
    expect(books.of("page")).toMatchObject({ running: 1, abandoned: 1 });
    expect(page.bulkhead?.gate.held).toBe(holds === "handler" ? 0 : 1);
    books.check();
    await time.advance(500);
    books.checkAtRest();
  },
);

it("looks at the caps of all keys", async () => {
  const time = virtualTime();
  const stock = dependency(
    { name: "stock", bulkhead: { limit: 1, perKey: {}, queue: { maxWaiting: 1, maxWaitMs: 100 } } },
    time.runtime,
  );
  const books = keepBooks(time.runtime, [stock]);
  const view = stock.operation("view", { totalTimeoutMs: 10 });
  const deaf = scripted([{ value: 1, afterMs: 50, ignoresSignal: true }]);
  for (const key of ["a", "b", "b"]) void view.outcome(deaf, { key });
  await time.settle();
  books.check();
  expect(() => books.checkAtRest()).toThrow("2 places of stock are held; 1 calls wait for a place of stock");
  await time.advance(200);
  books.checkAtRest();
});
