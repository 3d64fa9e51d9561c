// Case 034: a budget token is lost on an unusual exit.
import { expect, it } from "vitest";
import { constant, failed } from "../../src/core/index.ts";
import { dependency, type Operation } from "../../src/facade/index.ts";
import { type Scripted, scripted, type VirtualTime, virtualTime } from "../../src/node/testing/index.ts";
import { keepBooks } from "../../src/testing/index.ts";
import { fault } from "../lib/lab.ts";

const CALLS = 500;
const down = { error: fault("transient"), afterMs: 1 };

type Exit = (view: Operation<never, true>, time: VirtualTime) => Promise<unknown>;

const leaving = async (
  view: Operation<never, true>,
  time: VirtualTime,
  afterMs: number,
  work: Scripted<number>,
) => {
  const controller = new AbortController();
  void time.sleep(afterMs).then(() => controller.abort());
  return view(work, { signal: controller.signal }).catch(() => {});
};

/** Each takes one token; whether it is spent by the end. */
const exits: readonly [name: string, spent: 0 | 1, exit: Exit][] = [
  ["an abort in the backoff", 0, (view, time) => leaving(view, time, 5, scripted([down]))],
  [
    "an abort in the second attempt",
    1,
    (view, time) => leaving(view, time, 15, scripted([down, { hangs: true }])),
  ],
  [
    "an error that is not repeated",
    1,
    (view) => view.outcome(scripted([down, { error: fault("permanent") }])),
  ],
  ["a classifier that throws", 1, (view) => view.outcome(scripted([down, { value: -1 }]))],
  ["a success", 1, (view) => view.outcome(scripted([down, { value: 1 }]))],
  [
    "a deadline in the second attempt",
    1,
    (view, time) => view.outcome(scripted([down, { hangs: true }]), { deadline: time.now() + 30 }),
  ],
  [
    "a second attempt that was not sent after all",
    0,
    (view) =>
      view.outcome(scripted([down, { error: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) }])),
  ],
];

it.each(exits)("case 034: %s: every token is spent or back", async (_name, spent, exit) => {
  const time = virtualTime();
  const stock = dependency({ name: "stock", budget: { burst: CALLS, ratio: 0 } }, time.runtime);
  const books = keepBooks(time.runtime, [stock]);
  const view = stock.operation("view", {
    idempotent: true,
    retry: { attempts: 2, backoff: constant(10) },
    classify: (result) => {
      if ("value" in result && result.value === -1) throw new Error("in the classifier");
      return "error" in result && result.error === null ? failed(null, "transient") : undefined;
    },
  });
  await time.run(() => Promise.all(Array.from({ length: CALLS }, () => exit(view, time))));
  const { level, reserved, repeats } = stock.budget as NonNullable<typeof stock.budget>;
  expect({ level, reserved, repeats }).toEqual({
    level: CALLS * (1 - spent),
    reserved: 0,
    repeats: CALLS * spent,
  });
  books.checkAtRest();
});

it("case 034: refused on its second attempt by a full bulkhead, a call gives its token back", async () => {
  const time = virtualTime();
  const stock = dependency(
    { name: "stock", bulkhead: { limit: 1 }, budget: { burst: 5, ratio: 0 } },
    time.runtime,
  );
  const view = stock.operation("view", { idempotent: true, retry: { attempts: 2, backoff: constant(10) } });
  const first = view.outcome(scripted([down]));
  await time.advance(5);
  const holder = view(scripted([{ value: 1, afterMs: 100 }]));
  expect(await time.run(() => first)).toMatchObject({ kind: "failed", stoppedBy: { by: "bulkhead" } });
  expect([stock.budget?.level, stock.budget?.reserved]).toEqual([5, 0]);
  await time.run(() => holder);
});
