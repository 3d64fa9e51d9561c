/**
 * The decision to retry: again, and after how long? Asked by the driver and by the fused path alike.
 *
 * Six bounds, in this order: the way the attempt ended (evidence table) and whether a repeat is harmless; attempts;
 * the dependency's own word; time left under the call's deadline; the budget; and the caller, who may cancel at any
 * time. A repeat that could not start before the deadline is refused now instead of slept for. The token is reserved
 * here, before the wait. Sources: the resilience notes, §04 ("a complete retry policy has six bounds"); the Basketly
 * page, Part 3; SRE book, "Handling Overload" (3 attempts).
 */
import { Backoff, type BackoffOption } from "../backoff/machine.ts";
import type { Budget, Token } from "../budget/budget.ts";
import { type Call, type Exit, type Failed, type Rejected, rejected } from "../call.ts";
import { EVIDENCE, endingOf } from "../evidence.ts";
import { checkKeys, checkNumber, checkOneOf, orDefault } from "../options.ts";
import type { Random } from "../random.ts";
import { MAX_TIMER_MS } from "../runtime.ts";

/** Options of `retry`. */
export interface RetryOptions {
  /** Attempts in all, the first included; 1 to 100, whole. Default 3 (SRE book). */
  readonly attempts?: number;
  /** Waits between attempts. Default `fullJitter()` (AWS Architecture Blog): jitter is on unless you type otherwise. */
  readonly backoff?: BackoffOption;
  /**
   * `"unsent"` repeats only attempts that certainly did not leave this process: their connection failed. Default: all
   * failures that may be repeated.
   */
  readonly only?: "unsent";
  /**
   * Whether it also repeats what a guarded call within the work has given up on after retries of its own: "refuse", or
   * "allow", where attempts multiply. Default "refuse" (SRE book: retry at one layer).
   */
  readonly nested?: "refuse" | "allow";
}

/** Try again, after this wait. */
export interface Again {
  readonly kind: "again";
  readonly delayMs: number;
  readonly token: Token | null;
  /** The attempt from which the backoff counts its repeats: 0, or the last one that was told exactly how long to wait. */
  readonly backoffFrom: number;
}

const ATTEMPTS_SPENT: Rejected = rejected("retry", "attempts spent");
const NOT_REPEATABLE: Rejected = rejected("retry", "not repeatable");
const TOLD_NOT_TO: Rejected = rejected("retry", "told not to");
const TRIED_BELOW: Rejected = rejected("retry", "tried again further down");
const NO_TIME: Rejected = rejected("deadline", "no time for another attempt");

/** Decides whether and when a call is tried again. Keeps nothing about a call. */
export class RetryPolicy {
  readonly attempts: number;
  private readonly backoff: Backoff;
  private readonly unsentOnly: boolean;
  private readonly nests: boolean;
  private readonly budget: Budget | null;
  private readonly minUsefulMs: number;

  constructor(options: RetryOptions, budget: Budget | null, minUsefulMs: number, field = "retry") {
    checkKeys(field, options, ["attempts", "backoff", "only", "nested"]);
    this.attempts = checkNumber(`${field}.attempts`, orDefault(options.attempts, 3), {
      min: 1,
      max: 100,
      integer: true,
    });
    this.backoff = new Backoff(options.backoff, `${field}.backoff`);
    this.unsentOnly =
      options.only !== undefined && checkOneOf(`${field}.only`, options.only, ["unsent"]) === "unsent";
    const nested = checkOneOf(`${field}.nested`, orDefault(options.nested, "refuse"), ["refuse", "allow"]);
    this.nests = nested === "allow";
    this.budget = budget;
    this.minUsefulMs = minUsefulMs;
  }

  /**
   * After attempt `number` ended with `exit`: try again, or stop for a reason, or (null) nothing is to be repeated
   * because the exit is final in itself.
   */
  decide(
    exit: Exit,
    number: number,
    call: Call,
    now: number,
    previousMs: number,
    random: Random,
    backoffFrom = 0,
  ): Again | Rejected | null {
    if (exit.kind !== "failed") return null;
    const stop = this.eligible(exit, call);
    if (stop !== undefined) return stop;
    if (number >= this.attempts) return this.attempts > 1 ? ATTEMPTS_SPENT : null;
    const exactlyMs = exactly(exit);
    const waitMs =
      exactlyMs ??
      this.backoff.delayMs(number - backoffFrom, previousMs, random, {
        throttled: exit.class === "throttling",
        hintMs: hintMs(exit),
      });
    const delayMs = Math.min(MAX_TIMER_MS, waitMs);
    if (call.deadline - now - delayMs < Math.max(this.minUsefulMs, Number.MIN_VALUE)) return NO_TIME;
    const from = exactlyMs === null ? backoffFrom : number;
    if (this.budget === null) return { kind: "again", delayMs, token: null, backoffFrom: from };
    const token = this.budget.reserve("retry", now, exit);
    return token.kind === "rejected" ? token : { kind: "again", delayMs, token, backoffFrom: from };
  }

  /** Undefined when a repeat is worth a try. */
  private eligible(exit: Failed, call: Call): Rejected | null | undefined {
    const rule = EVIDENCE[endingOf(exit)].retry;
    if (rule === "never" || (this.unsentOnly && exit.ended !== "unsent")) return null;
    if (exit.pushback === "never") return TOLD_NOT_TO;
    if (exit.exhausted === true && !this.nests) return TRIED_BELOW;
    if (rule === "always" || exit.effect === "none" || call.repeatable) return undefined;
    return NOT_REPEATABLE;
  }
}

/** The least wait that the dependency asked for: a negative number or NaN asks for none; a timer's longest is the most. */
function hintMs({ pushback }: Failed): number | null {
  return typeof pushback === "number" && pushback >= 0 ? Math.min(pushback, MAX_TIMER_MS) : null;
}

/** The exact wait that it asked for, or null. */
function exactly({ pushback }: Failed): number | null {
  if (typeof pushback !== "object" || pushback === null) return null;
  return pushback.exactlyMs >= 0 ? Math.min(pushback.exactlyMs, MAX_TIMER_MS) : null;
}
