// A timeout's error is made when it is first read. Nobody may notice.
import { expect, it } from "vitest";
import type { Attempt, Failed } from "../core/index.ts";
import { TimeoutError } from "../core/index.ts";
import { VirtualRuntime } from "../testing/index.ts";
import { dependency } from "./index.ts";

const never = (): Promise<never> => new Promise(() => {});

it("is one error, for whoever reads it: the outcome, the signal, a listener", async () => {
  const runtime = new VirtualRuntime();
  const stock = dependency({ name: "stock" }, runtime);
  const view = stock.operation("view", { attemptTimeoutMs: 60, retry: { attempts: 2 }, idempotent: true });
  const attempts: Attempt[] = [];
  const heard: unknown[] = [];
  const outcome = view.outcome((attempt) => {
    attempts.push(attempt);
    attempt.onAbort((reason) => heard.push(reason));
    return never();
  });
  runtime.runToIdle();
  const { error, stoppedBy } = (await outcome) as Failed;
  expect(error).toBeInstanceOf(TimeoutError);
  expect(stoppedBy).toMatchObject({ by: "retry" });
  expect(attempts).toHaveLength(2);
  expect(attempts[1]?.signal.reason).toBe(error);
  expect(heard).toEqual([attempts[0]?.signal.reason, error]);
});

it("is the reason of a signal that is first read long after", async () => {
  const runtime = new VirtualRuntime();
  const view = dependency({ name: "stock" }, runtime).operation("view", { attemptTimeoutMs: 60 });
  let sent: Attempt | undefined;
  const result = view((attempt) => {
    sent = attempt;
    return never();
  }).catch((error: unknown) => error);
  runtime.runToIdle();
  expect(sent?.signal.aborted).toBe(true);
  expect(sent?.signal.reason).toBe(await result);
  expect(sent?.signal).toBe(sent?.signal);
});

it("stands in an outcome as plain data, also where a fallback replaced it", async () => {
  const runtime = new VirtualRuntime();
  const stock = dependency({ name: "stock" }, runtime);
  const plainly = stock.operation("view", { attemptTimeoutMs: 60 }).outcome(never);
  const seen: unknown[] = [];
  const fallback = (because: unknown): number => seen.push(because);
  const replaced = stock.operation("badges", { attemptTimeoutMs: 60, fallback }).outcome(never);
  runtime.runToIdle();
  const failure = { kind: "failed", class: "transient", effect: "unknown", ended: "timeout" };
  expect({ ...(await plainly) }).toMatchObject({ ...failure, error: { limitMs: 60, operation: "view" } });
  expect({ ...(await replaced) }).toMatchObject({ kind: "ok", value: 1 });
  const { degradedBy } = (await replaced) as { degradedBy: Failed };
  expect({ ...degradedBy }).toMatchObject({ ...failure, error: { limitMs: 60, operation: "badges" } });
  expect(seen).toEqual([degradedBy]);
});
