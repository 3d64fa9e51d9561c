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
  /** The row's name. */
  readonly ending: Ending;
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
  ending: Ending,
  breaker: Evidence["breaker"],
  concurrencyLimit: Evidence["concurrencyLimit"],
  adaptiveThrottle: Evidence["adaptiveThrottle"],
  retryBudget: Evidence["retryBudget"],
  retry: Evidence["retry"],
): Evidence {
  return Object.freeze({ ending, breaker, concurrencyLimit, adaptiveThrottle, retryBudget, retry });
}

/** The table. */
export const EVIDENCE: Readonly<Record<Ending, Evidence>> = Object.freeze({
  //               breaker    limit       throttle  budget              retry
  ok: row("ok", "success", "sample", "accept", "settled", "never"),
  degraded: row("degraded", "success", "sample", "accept", "settled", "never"),
  transient: row("transient", "failure", "ignored", "none", "settled", "ifRepeatable"),
  throttled: row("throttled", "failure", "overload", "reject", "settled", "byPushback"),
  permanent: row("permanent", "success", "sample", "accept", "settled", "never"),
  timeout: row("timeout", "failure", "overload", "none", "settled", "ifRepeatable"),
  clipped: row("clipped", "ignored", "ignored", "none", "settled", "never"),
  unsent: row("unsent", "failure", "ignored", "none", "returned", "always"),
  cancelled: row("cancelled", "ignored", "ignored", "none", "returnedIfUnsent", "never"),
  hedgeLoser: row("hedgeLoser", "ignored", "ignored", "none", "spent", "never"),
  refused: row("refused", "ignored", "ignored", "none", "returned", "never"),
});

/** What an exit means: its row of the table. */
export function evidenceOf(exit: Exit): Evidence {
  if (exit.kind === "ok") return exit.degradedBy === undefined ? EVIDENCE.ok : EVIDENCE.degraded;
  return EVIDENCE[endingOf(exit)];
}

/** The name of the row that an exit belongs to. */
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
