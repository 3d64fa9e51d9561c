/**
 * What the end of an attempt means to each guard: one table, read by every guard and tested row by row.
 *
 * Two questions decide a row. Did the *dependency* speak (an answer, a refusal of its own, a silence as long as it
 * was given)? Only then is it evidence about the dependency. And did the attempt leave this process? Only then was
 * a retry token spent. A local refusal, a caller who left and a time that the caller cut short say nothing about
 * the dependency. Sources: the resilience notes §06 ("Breaker policy"); Netflix concurrency-limits' three-way
 * settlement; the case files on cancelled calls (resilience4j#682) and local refusals (Sentinel#1638).
 */
import type { Exit } from "./call.ts";

/** The ways an attempt can end. */
export type Ending =
  | "ok"
  | "degraded"
  | "transient"
  | "throttled"
  | "permanent"
  | "timeout"
  | "clipped"
  | "unsent"
  | "cancelled"
  | "hedgeLoser"
  | "refused";

/** A row of the table: what one ending means in each guard's column. */
export interface Evidence {
  /** The breaker's failure rate. */
  readonly breaker: "success" | "failure" | "ignored";
  /** The adaptive concurrency limit: a latency sample, a sign of overload, or nothing. */
  readonly concurrencyLimit: "sample" | "overload" | "ignored";
  /** The adaptive throttle's accepts and rejects. */
  readonly adaptiveThrottle: "accept" | "reject" | "none";
  /** The retry token the attempt carried: settled by the outcome, or handed back because nothing was sent. */
  readonly retryBudget: "settled" | "returned" | "returnedIfUnsent" | "spent";
  /** Whether the same call tries again: never, whenever attempts are left, or only if a repeat is harmless. */
  readonly retry: "never" | "always" | "ifRepeatable" | "byPushback";
}

function row(
  breaker: Evidence["breaker"],
  concurrencyLimit: Evidence["concurrencyLimit"],
  adaptiveThrottle: Evidence["adaptiveThrottle"],
  retryBudget: Evidence["retryBudget"],
  retry: Evidence["retry"],
): Evidence {
  return Object.freeze({ breaker, concurrencyLimit, adaptiveThrottle, retryBudget, retry });
}

/** The table. */
export const EVIDENCE: Readonly<Record<Ending, Evidence>> = Object.freeze({
  //               breaker    limit       throttle  budget              retry
  ok: row("success", "sample", "accept", "settled", "never"),
  degraded: row("success", "sample", "accept", "settled", "never"),
  transient: row("failure", "ignored", "none", "settled", "ifRepeatable"),
  throttled: row("failure", "overload", "reject", "settled", "byPushback"),
  permanent: row("success", "sample", "accept", "settled", "never"),
  timeout: row("failure", "overload", "none", "settled", "ifRepeatable"),
  clipped: row("ignored", "ignored", "none", "settled", "never"),
  unsent: row("failure", "ignored", "none", "returned", "always"),
  cancelled: row("ignored", "ignored", "none", "returnedIfUnsent", "never"),
  hedgeLoser: row("ignored", "ignored", "none", "spent", "never"),
  refused: row("ignored", "ignored", "none", "returned", "never"),
});

/** The row that an exit belongs to. */
export function endingOf(exit: Exit): Ending {
  if (exit.kind === "ok") return exit.degradedBy === undefined ? "ok" : "degraded";
  if (exit.kind === "cancelled") return exit.reason === HEDGE_LOST ? "hedgeLoser" : "cancelled";
  if (exit.kind === "rejected") return "refused";
  if (exit.ended !== undefined) return exit.ended;
  if (exit.class === "throttling") return "throttled";
  return exit.class === "permanent" ? "permanent" : "transient";
}

/** The reason with which the winner of a hedge cancels the other attempts. */
export const HEDGE_LOST: unique symbol = Symbol("another attempt of this call answered first");
