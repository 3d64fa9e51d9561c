// What work returns may be any thenable, as `await` takes it: one that calls back twice, throws, or gives another.
import { expect, it } from "vitest";
import { VirtualRuntime } from "../testing/index.ts";
import { dependency, type Work } from "./index.ts";

const boom = new Error("boom");
type Settle = (value: unknown) => void;
/** A thenable on purpose: `[THEN]: …` is one. */
const THEN = "then";
const thenable = (then: (resolve: Settle, reject: Settle) => void) => () => ({ [THEN]: then });

it.each([
  ["calls back at once", thenable((resolve) => resolve(1)), 1],
  [
    "calls back three times",
    thenable((resolve, reject) => {
      resolve(1);
      reject(boom);
      resolve(2);
    }),
    1,
  ],
  [
    "throws after it called back",
    thenable((resolve) => {
      resolve(1);
      throw boom;
    }),
    1,
  ],
  ["gives a promise", thenable((resolve) => resolve(Promise.resolve(1))), 1],
  ["gives a promise that rejects", thenable((resolve) => resolve(Promise.reject(boom))), boom],
  [
    "throws",
    thenable(() => {
      throw boom;
    }),
    boom,
  ],
  ["rejects at once", thenable((_, reject) => reject(boom)), boom],
  [
    "cannot be asked",
    () => ({
      get [THEN]() {
        throw boom;
      },
    }),
    boom,
  ],
  ["is a function", () => Object.assign(() => {}, { [THEN]: (resolve: Settle) => resolve(1) }), 1],
  [
    "is a function and fails",
    () => Object.assign(() => {}, { [THEN]: (_: Settle, reject: Settle) => reject(boom) }),
    boom,
  ],
] as [string, Work<unknown>, unknown][])("a thenable that %s ends as it says", async (_name, work, end) => {
  const stock = dependency({ name: "stock", bulkhead: { limit: 1 } }, new VirtualRuntime());
  const view = stock.operation("view");
  expect(await view.outcome(work)).toMatchObject(
    end === boom ? { kind: "failed", error: boom } : { kind: "ok", value: end },
  );
  expect(stock.bulkhead?.gate.held).toBe(0);
});
