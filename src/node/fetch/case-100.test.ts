// Case 100: the winner has to wait for the loser.
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import { serve, until } from "../../../test/lib/http.ts";
import { dependency } from "../../index.node.ts";
import { NodeRuntime } from "../runtime.ts";

const unhandled: unknown[] = [];
const hear = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => void process.on("unhandledRejection", hear));
afterEach(() => void process.off("unhandledRejection", hear));

it("case 100: the hedge answers; the loser, deaf to its abort, is counted until it ends, and hurts nobody", async () => {
  const stuck: ServerResponse[] = [];
  const { url, seen } = await serve((_, response) => {
    if (seen.length === 1) stuck.push(response);
    else response.end("from the hedge");
  });
  const runtime = new NodeRuntime();
  const stock = dependency({ name: "stock", bulkhead: { limit: 2 } }, runtime);
  const view = stock.operation("view", {
    idempotent: true,
    attemptTimeoutMs: 60_000,
    hedge: { delayMs: 50 },
  });
  const signals: AbortSignal[] = [];
  const deaf = ({ signal }: { signal: AbortSignal }): Promise<string> => {
    signals.push(signal);
    return globalThis.fetch(url).then((response) => response.text());
  };
  expect(await view(deaf)).toBe("from the hedge");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect([stock.bulkhead?.gate.held, view.abandoned, runtime.pending]).toEqual([1, 1, 0]);
  for (const response of stuck) response.destroy(); // the loser rejects
  await until(() => view.abandoned === 0);
  expect(stock.bulkhead?.gate.held).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});
