/** What the small scenarios have in common: a few policies on a virtual clock, and figures that come out. */
import type { Attempt } from "../../../core/attempt.ts";
import { PLAIN_CALL } from "../../../core/call.ts";
import { FAILURE } from "../../../core/classify.ts";
import { DependencyPolicy, type OperationPolicy } from "../../../core/policy.ts";
import type { DependencyOptions, OperationOptions } from "../../../core/policy-options.ts";
import type { Runtime } from "../../../core/runtime.ts";

/** What a small scenario gives: names and numbers. */
export type Figures = Readonly<Record<string, number>>;

/** A small scenario. */
export interface Scenario {
  readonly name: string;
  /** What it shows, in a sentence, and where it comes from. */
  readonly about: string;
  /** Runs it: one seed, one result. */
  run(seed: number): Figures;
}

/** What an attempt of a scenario does: it ends the attempt, now or later. */
export type Work = (attempt: Attempt) => void;

/** A failure that may pass, of a request that changed nothing. */
export const FAULT: object = Object.freeze({
  [FAILURE]: { class: "transient", effect: "none" } as const,
});

/** An operation whose work is a `Work`. */
export function operationOf(
  runtime: Runtime,
  options: OperationOptions,
  shared: Omit<DependencyOptions, "name"> = {},
  name = "store",
): OperationPolicy {
  const perform = (attempt: Attempt, work: unknown): void => (work as Work)(attempt);
  return new DependencyPolicy({ name, ...shared }, runtime, perform).operation("call", {
    idempotent: true,
    ...options,
  });
}

/** Starts a call; `answered` hears whether it was answered well, and when. */
export function start(
  operation: OperationPolicy,
  work: Work,
  answered: (ok: boolean, at: number) => void = () => {},
  key = "",
): void {
  const { runtime } = operation.dependency;
  const answer = { answered: (exit: { kind: string }) => answered(exit.kind === "ok", runtime.now()) };
  operation.start(work, key === "" ? PLAIN_CALL : { ...PLAIN_CALL, key }, Infinity, answer);
}

/** Ends an attempt in `ms`: well, or with a fault. */
export function endIn(attempt: Attempt, ms: number, well = true): void {
  attempt.runtime.after(ms, () => (well ? attempt.succeed(0) : attempt.fail(FAULT)));
}

/** The value below which a share of them lies. */
export function rank(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
