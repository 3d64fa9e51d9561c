/**
 * The hedge: a second attempt sent early, for a call that is slower than nearly all others. The first answer wins
 * and the loser is cancelled. It helps against one slow replica among healthy ones, and harms when all are slow, so
 * it spends from the same budget as retries. Only for operations that are idempotent.
 *
 * A hedge is never a probe, a probe is never hedged, and a hedge that is refused locally never ends the race.
 * Sources: Dean and Barroso, "The Tail at Scale"; the Basketly page, Part 5; the resilience notes, §05.
 */
import type { Admission, Plan } from "../admission.ts";
import { Attempt } from "../attempt.ts";
import type { Budget, Token } from "../budget/budget.ts";
import { type Exit, type Rejected, rejected } from "../call.ts";
import type { Fiber, Next, Sequence, Step, Steps } from "../driver.ts";
import { OptionError } from "../errors.ts";
import { callEvent } from "../events.ts";
import { HEDGE_LOST } from "../evidence.ts";
import { checkKeys, checkMs } from "../options.ts";
import { Timer } from "../runtime.ts";
import type { Binding, Guard } from "../stack.ts";

/** Options of `hedge`. */
export interface HedgeOptions {
  /**
   * How long the first attempt may take before a second is sent, in ms, 1 to 2^31 − 1. No default: about its measured
   * P95.
   */
  readonly delayMs: number;
}

const NOT_SENT: Rejected = rejected("hedge", "the first attempt has not been sent");
const PROBE: Rejected = rejected("hedge", "the first attempt is a probe");

/** Sends a second attempt when the first is slow. */
export class HedgeGuard implements Sequence {
  readonly name = "hedge";
  private readonly afterMs: number;
  private readonly budget: Budget | null;

  constructor(options: HedgeOptions, at: Binding, field = "hedge") {
    checkKeys(field, options, ["delayMs"]);
    this.afterMs = checkMs(`${field}.delayMs`, options.delayMs, { min: 1 });
    this.budget = at.budget;
    if (!at.idempotent) throw new OptionError(field, options, "nothing unless the operation is idempotent");
  }

  *run(plan: Plan, next: Next, fiber: Fiber): Steps {
    const race = new Race(fiber);
    const first = race.enter(next, plan);
    let token: Token | null = null;
    let second: Fiber | null = null;
    try {
      const early = (yield race.within(this.afterMs)) as Exit | null;
      if (early !== null) return early;
      const reserved = this.mayHedge(first, fiber.root.runtime.now());
      if (reserved !== null && reserved.kind === "rejected") this.emitStopped(plan, fiber, reserved);
      else {
        token = reserved;
        second = race.enter(next, { ...plan, kind: "hedge", token });
      }
      let last = (yield race.within(Infinity)) as Exit;
      if (second !== null && last.kind !== "ok") {
        const other = (yield race.within(Infinity)) as Exit;
        last = other.kind === "rejected" ? last : other;
      }
      return last;
    } finally {
      if (token !== null) token.cancel();
      first.cancel(HEDGE_LOST);
      if (second !== null) second.cancel(HEDGE_LOST);
    }
  }

  /** A token, null where no budget is kept, or why not. */
  private mayHedge(first: Fiber, now: number): Token | Rejected | null {
    const { step } = first;
    if (!(step instanceof Attempt) || step.state !== "sent" || step.kind === "fallback") return NOT_SENT;
    for (let within: Admission | null = step; within !== null; within = within.outer) {
      if (within.kind === "probe") return PROBE;
    }
    return this.budget === null ? null : this.budget.reserve("hedge", now, null);
  }

  private emitStopped(plan: Plan, fiber: Fiber, refusal: Rejected): void {
    const { runtime } = fiber.root;
    if (runtime.sink === null) return;
    const body = { type: "hedge.stopped", by: refusal.by, reason: refusal.reason } as const;
    runtime.emit(callEvent(plan.call, runtime.now(), body));
  }
}

/** Branches of one call; each wait takes the next exit, in the order in which they came. */
class Race extends Timer implements Step {
  private readonly fiber: Fiber;
  private readonly exits: Exit[] = [];
  private waiting = false;
  private limitMs = Infinity;

  constructor(fiber: Fiber) {
    super();
    this.fiber = fiber;
  }

  enter(next: Next, plan: Plan): Fiber {
    return this.fiber.fork(next, plan, (exit) => {
      this.exits.push(exit);
      if (this.waiting) this.resume();
    });
  }

  within(limitMs: number): this {
    this.limitMs = limitMs;
    return this;
  }

  begin(): void {
    this.waiting = true;
    if (this.exits.length > 0) this.resume();
    else if (this.limitMs < Infinity) this.arm();
  }

  private arm(): void {
    const { runtime } = this.fiber.root;
    runtime.arm(this, runtime.now() + this.limitMs);
  }

  cancel(): void {
    this.waiting = false;
    this.fiber.root.runtime.cancel(this);
  }

  override fire(): void {
    this.resume();
  }

  private resume(): void {
    this.cancel();
    this.fiber.resume(this.exits.shift() ?? null);
  }
}

/** A hedge as a layer of a stack. */
export function hedge(options: HedgeOptions, field = "hedge"): Guard {
  return { name: "hedge", bind: (at) => new HedgeGuard(options, at, field) };
}
