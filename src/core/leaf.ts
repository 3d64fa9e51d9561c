/** The innermost part of a policy: the work, and how it is started, judged, timed and counted. */
import type { Attempt } from "./attempt.ts";
import type { Budget } from "./budget/budget.ts";
import type { Outcome } from "./call.ts";
import type { Random } from "./random.ts";
import type { Run } from "./run.ts";

/** What the work gave: the value it returned, or the error it threw. */
export type Result = { readonly value: unknown; readonly error?: never } | { readonly error: unknown };

/** A judgement of what the work gave. Undefined leaves it to the library; if it throws, the call fails with that. */
export type Judge = (result: Result, attempt: Attempt) => Outcome | undefined;

/** One per operation, and one for each guard that has work of its own. */
export interface Leaf {
  readonly run: Run;
  /** One attempt's limit in ms; `Infinity` for none. */
  readonly attemptTimeoutMs: number;
  /** An attempt is not started with less time left than this. */
  readonly minUsefulMs: number;
  /** After this long an abandoned attempt's places are taken back; `Infinity` for never. */
  readonly reclaimAbandonedAfterMs: number;
  /** Earns on first attempts, spends on others; null when nothing repeats. */
  readonly budget: Budget | null;
  /** Starts the work. It reports by `attempt.succeed` or `attempt.fail`, at once or later. */
  perform(attempt: Attempt, work: unknown): void;
  /** A judge of the user's, which may throw; null for the library's own. */
  readonly judge: Judge | null;
  /** Chooses among destinations. */
  readonly destinations: Random;
  /** Attempts answered but not ended. */
  abandoned: number;
}
