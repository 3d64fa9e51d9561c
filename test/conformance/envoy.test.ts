// Envoy's backoff and retry budget, through the guards. Source: envoyproxy/envoy, `router_filter.rst` (x-envoy-max-retries:
// 25 ms, ten times that at most, fully jittered) and the cluster's `retry_budget` (20 % of what is active, at least 3).
import { describe, expect, it } from "vitest";
import {
  type Attempt,
  type Budget,
  type BudgetSpec,
  concurrencyShare,
  DependencyPolicy,
  envoyBackoff,
  immediately,
  type OperationPolicy,
  type RetryOptions,
} from "../../src/core/index.ts";
import { fault, Lab, type Script } from "../lib/lab.ts";

function cluster(
  lab: Lab,
  retry: RetryOptions,
  budget: BudgetSpec | "none",
): [OperationPolicy, Budget | null] {
  const perform = (attempt: Attempt, work: unknown): void => (work as Script)(attempt);
  const dependency = new DependencyPolicy({ name: "cluster", budget }, lab.runtime, perform);
  return [dependency.operation("route", { idempotent: true, retry }), dependency.budget];
}

it("retry n waits anything in [0, (2^n − 1) × 25 ms), and never more than 250 ms", () => {
  const lab = new Lab();
  const [route] = cluster(lab, { attempts: 6, backoff: envoyBackoff() }, "none");
  const calls = Array.from({ length: 400 }, () => lab.start(route, lab.throws(fault("transient"))));
  lab.runtime.runToIdle();
  for (const [n, ceiling] of [25, 75, 175, 250, 250].entries()) {
    const waits = calls.map(({ sent }) => sent[n + 1]!.sentAt - sent[n]!.sentAt);
    expect(Math.min(...waits)).toBeLessThan(ceiling * 0.05);
    expect(Math.max(...waits)).toBeGreaterThan(ceiling * 0.95);
    expect(Math.max(...waits)).toBeLessThan(ceiling);
  }
});

describe("retry budget", () => {
  /** So many requests hang, and then `failing` others fail, whose retries hang as well. */
  const retriesOf = (hanging: number, failing: number): number => {
    const lab = new Lab();
    const [route, budget] = cluster(lab, { attempts: 2, backoff: immediately }, concurrencyShare());
    for (let i = 0; i < hanging; i++) lab.start(route, lab.hangs);
    for (let i = 0; i < failing; i++) lab.start(route, [lab.throws(fault("transient")), lab.hangs]);
    lab.runtime.advance(1);
    return budget?.repeats ?? -1;
  };

  it("allows 3 at once, whatever is active", () => {
    expect(retriesOf(0, 50)).toBe(3);
    expect(retriesOf(10, 50)).toBe(3);
  });

  it("allows a fifth of what is active, retries included", () => {
    // With r retries beside 400 others one more needs r + 1 ≤ 0.2 × (400 + r), so the 99th is the last.
    expect(retriesOf(400, 300)).toBe(99);
  });
});
