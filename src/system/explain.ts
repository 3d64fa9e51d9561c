/**
 * A policy in words and numbers: what it can cost at worst, how long it can take, and when it refuses. All in closed
 * form, from the options alone, so that a reviewer sees what a set of numbers means before anything runs.
 */
import { Backoff, type BackoffOption } from "../core/backoff/machine.ts";
import type { BudgetSpec } from "../core/budget/presets.ts";
import type { BulkheadOptions } from "../core/bulkhead/guard.ts";
import type { FallbackOption, StaleOptions } from "../core/fallback/options.ts";
import type { DependencyOptions, OperationOptions } from "../core/policy-options.ts";
import type { Random } from "../core/random.ts";
import { loadSentences } from "./explain-load.ts";
import { percent, time } from "./words.ts";

/** What an operation can do at worst. `Infinity` where nothing bounds it. */
export interface WorstCase {
  /** Attempts that one call may send, hedges included. */
  readonly attempts: number;
  /** How long one call may take, waits for places and backoffs included, in ms; what the dependency asks to wait is not. */
  readonly longestMs: number;
  /** What repeats add to the load in the long run, as a share of it; `Infinity` where nothing bounds it. */
  readonly addedLoad: number;
}

/** An operation, explained. */
export interface Explanation {
  readonly worst: WorstCase;
  /** A sentence for each guard, outermost first. */
  readonly sentences: readonly string[];
}

/** Chance at its worst: the longest wait that a backoff can give. */
const LONGEST: Random = { next: () => 1, fork: () => LONGEST };

/** Explains one operation of a dependency. Throws an `OptionError` for wrong options, as the guards would. */
export function explain(shared: Omit<DependencyOptions, "name">, options: OperationOptions): Explanation {
  const worst = worstCase(shared, options);
  const sentences = [
    ...fallbackSentences(options),
    ...coalesceSentences(options),
    ...timeSentences(options, worst),
    ...repeatSentences(shared, options),
    ...loadSentences(shared, options),
  ];
  return { worst, sentences };
}

/** What an operation can do at worst. */
export function worstCase(shared: Omit<DependencyOptions, "name">, options: OperationOptions): WorstCase {
  const { totalTimeoutMs = Infinity, retry, hedge, breaker } = options;
  // A probe's own timeout may be the longer one.
  const attemptTimeoutMs = Math.max(options.attemptTimeoutMs ?? Infinity, breaker?.probeTimeoutMs ?? 0);
  const repeats = retry === undefined ? 0 : (retry.attempts ?? 3) - 1;
  const beside = hedge === undefined ? 1 : (hedge.attempts ?? 2);
  const waits = waitsFor(shared.bulkhead) + waitsFor(options.bulkhead);
  const attempts = (repeats + 1) * beside;
  const delays = delaysOf(retry?.backoff, repeats).reduce((sum, ms) => sum + ms, 0);
  // Hedges run beside each other: the last of them begins after the others' delays, and before the first has ended.
  const delayMs = typeof hedge?.delayMs === "number" ? hedge.delayMs : attemptTimeoutMs;
  const besideMs = beside === 1 ? 0 : (beside - 1) * Math.min(delayMs, attemptTimeoutMs);
  const longest = (repeats + 1) * (attemptTimeoutMs + waits + besideMs) + delays;
  return {
    attempts,
    longestMs: Math.min(totalTimeoutMs, longest) + fallbackMs(options),
    addedLoad: attempts === 1 ? 0 : addedLoad(shared.budget, attempts),
  };
}

function waitsFor(bulkhead: BulkheadOptions | undefined): number {
  const queue = bulkhead?.queue;
  return queue === undefined || queue.maxWaiting === 0 ? 0 : (queue.maxWaitMs ?? 1_000);
}

function delaysOf(option: BackoffOption | undefined, repeats: number): number[] {
  if (typeof option === "function") return repeats === 0 ? [] : [Infinity];
  const backoff = new Backoff(option);
  const delays: number[] = [];
  for (let repeat = 1; repeat <= repeats; repeat++)
    delays.push(backoff.delayMs(repeat, delays.at(-1) ?? 0, LONGEST));
  return delays;
}

function fallbackMs({ fallback }: OperationOptions): number {
  if (fallback === undefined) return 0;
  const { timeoutMs, reserveMs = 0 } = typeof fallback === "function" ? {} : fallback;
  return timeoutMs ?? (reserveMs || 100);
}

function addedLoad(budget: BudgetSpec | "none" | undefined, attempts: number): number {
  if (budget === "none") return attempts - 1;
  const kind = budget !== undefined && "kind" in budget ? budget.kind : "ratio";
  const { ratio, share } = (budget ?? {}) as { ratio?: number; share?: number };
  if (kind === "ratio") return Math.min(attempts - 1, ratio ?? 0.1);
  if (kind === "windowShare") return Math.min(attempts - 1, ratio ?? 0.2);
  if (kind === "concurrencyShare") return Math.min(attempts - 1, share ?? 0.2);
  // gRPC's and AWS's let through what they have, and nothing when everything fails.
  return 0;
}

function fallbackSentences({ fallback }: OperationOptions): string[] {
  if (fallback === undefined) return [];
  const within = time(fallbackMs({ fallback }));
  return [`When all of this was not enough, ${substitute(fallback)} (within ${within}), marked as degraded.`];
}

function coalesceSentences({ coalesce }: OperationOptions): string[] {
  if (coalesce === undefined) return [];
  const { shareFailuresMs = 0 } = coalesce;
  const failures = shareFailuresMs > 0 ? `; a failure answers them for ${time(shareFailuresMs)} more` : "";
  return [`Calls of the same tenant and key share one that is under way${failures}.`];
}

function substitute(fallback: FallbackOption): string {
  if (typeof fallback === "function" || !("kind" in fallback)) return "its fallback function answers";
  if (fallback.kind === "default") return "a fixed value answers";
  if (fallback.kind === "elsewhere") return "another provider answers, where it certainly did not run here";
  const { maxAgeMs } = fallback as StaleOptions;
  return `the last good answer of the same tenant and key answers, if it is at most ${time(maxAgeMs)} old`;
}

function timeSentences(
  { attemptTimeoutMs, totalTimeoutMs, hedge, retry }: OperationOptions,
  worst: WorstCase,
): string[] {
  const attempts = worst.attempts === 1 ? "one attempt" : `up to ${worst.attempts} attempts, each`;
  const each =
    attemptTimeoutMs === undefined
      ? "with no timeout of its own"
      : `given up after ${time(attemptTimeoutMs)}`;
  const whole = totalTimeoutMs === undefined ? "" : `, all of it bounded by ${time(totalTimeoutMs)}`;
  const waits = retry !== undefined && retry.attempts !== 1 && totalTimeoutMs === undefined;
  const asked = waits ? ", and what it is asked to wait" : "";
  const within =
    worst.longestMs === Infinity ? "nothing bounds it" : `answered within ${time(worst.longestMs)}`;
  const sentences = [
    `A call makes ${attempts} ${each}${whole}; ${within}${worst.longestMs === Infinity ? "" : asked}.`,
  ];
  if (hedge !== undefined) {
    const { delayMs } = hedge;
    const when =
      typeof delayMs === "number"
        ? time(delayMs)
        : `what ${percent(delayMs.percentile ?? 0.95)} of attempts take (after ${delayMs.minSamples ?? 100} were seen)`;
    const tied =
      hedge.tied === true ? "; as soon as the callee has begun on one, the others are given up" : "";
    sentences.push(`A further attempt is sent beside a slow one after ${when}${tied}.`);
  }
  if (retry !== undefined) {
    const delays = delaysOf(retry.backoff, (retry.attempts ?? 3) - 1);
    if (delays.some((ms) => ms > 0))
      sentences.push(`Before its repeats it waits at most ${delays.map(time).join(", then ")}.`);
  }
  return sentences;
}

function repeatSentences({ budget }: Omit<DependencyOptions, "name">, options: OperationOptions): string[] {
  if (worstCase({}, options).attempts === 1) return [];
  const safe =
    options.idempotent === true
      ? "Any attempt that failed in passing may be repeated: it is idempotent."
      : "An attempt whose outcome is unknown is repeated only with an idempotency key.";
  const { attempts, addedLoad: added } = worstCase({ ...(budget !== undefined && { budget }) }, options);
  if (budget === "none")
    return [
      safe,
      `No budget bounds its repeats: when everything fails, the load grows to ${attempts} times.`,
    ];
  const kind = budget !== undefined && "kind" in budget ? budget.kind : "ratio";
  if (kind === "grpc" || kind === "aws")
    return [
      safe,
      `Its repeats follow ${kind === "aws" ? "the AWS SDKs' quota" : "gRPC's throttle"}: a burst, and none when everything goes on failing.`,
    ];
  const burst =
    kind === "ratio" ? `, and a burst of ${(budget as { burst?: number } | undefined)?.burst ?? 10}` : "";
  return [safe, `Its repeats add at most ${percent(added)} to the dependency's load${burst}.`];
}
