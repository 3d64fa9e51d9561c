// A call made in the course of another: it has no more time than that one has left, and may have less.
import { expect, it } from "vitest";
import type { Attempt } from "../core/index.ts";
import { VirtualRuntime } from "../testing/index.ts";
import { dependency } from "./index.ts";

const forever = (): Promise<never> => new Promise<never>(() => {});

/** How long an inner call takes that hangs, 10 ms after its outer one was begun. */
async function innerLasts(outer: object, inner: object, call: object = {}): Promise<number | null> {
  const runtime = new VirtualRuntime({ startAtMs: 1_000 });
  const page = dependency({ name: "page" }, runtime).operation("render", outer);
  const view = dependency({ name: "stock" }, runtime).operation("view", inner);
  let begunAt = 0;
  let endedAt: number | null = null;
  const begin = (parent: Attempt): void => {
    begunAt = runtime.now();
    const ended = (): void => {
      endedAt = runtime.now();
    };
    view(forever, { parent, ...call }).then(ended, ended);
  };
  const rendered = page((parent) => {
    runtime.after(10, () => begin(parent));
    return forever();
  });
  rendered.catch(() => {});
  for (let ms = 0; ms < 500; ms++) {
    runtime.advance(1);
    await null;
    await null;
    await null;
  }
  return endedAt === null ? null : endedAt - begunAt;
}

it.each([
  ["the outer call's total", { totalTimeoutMs: 100 }, { totalTimeoutMs: 300 }, {}, 90],
  [
    "the outer attempt's own",
    { attemptTimeoutMs: 80, totalTimeoutMs: 200 },
    { attemptTimeoutMs: 300 },
    {},
    70,
  ],
  ["its own total", { totalTimeoutMs: 300 }, { totalTimeoutMs: 40 }, {}, 40],
  ["its own attempt's", { totalTimeoutMs: 300 }, { attemptTimeoutMs: 30 }, {}, 30],
  ["the call's own deadline", { totalTimeoutMs: 300 }, {}, { deadline: 1_060 }, 50],
  ["none at all", {}, {}, {}, null],
])("a child takes the smallest limit: %s", async (_name, outer, inner, call, lasts) => {
  expect(await innerLasts(outer, inner, call)).toBe(lasts);
});
