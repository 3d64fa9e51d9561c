// Deadlines are kept on the monotonic clock: somebody who sets the machine's time moves none of them.
import { afterEach, expect, it, vi } from "vitest";
import { dependency } from "../index.node.ts";
import { NodeRuntime } from "./runtime.ts";

const HOUR_MS = 3_600_000;
const LIMIT_MS = 60;

afterEach(() => void vi.restoreAllMocks());

it.each([
  ["forward", HOUR_MS],
  ["back", -HOUR_MS],
])("a step of the wall clock %s by an hour neither ends a call nor keeps it", async (_name, stepMs) => {
  const view = dependency({ name: "stock" }, new NodeRuntime()).operation("view", {
    totalTimeoutMs: LIMIT_MS,
  });
  const now = Date.now;
  const from = process.hrtime.bigint();
  const lefts: number[] = [];
  const outcome = await view.outcome((attempt) => {
    lefts.push(attempt.timeLeftMs);
    vi.spyOn(Date, "now").mockImplementation(() => now() + stepMs);
    lefts.push(attempt.timeLeftMs);
    return new Promise(() => {});
  });
  expect(outcome).toMatchObject({ kind: "failed", ended: "clipped" });
  expect(Number(process.hrtime.bigint() - from) / 1e6).toBeGreaterThanOrEqual(LIMIT_MS - 1);
  for (const left of lefts) {
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(LIMIT_MS);
  }
});
