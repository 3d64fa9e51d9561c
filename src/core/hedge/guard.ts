/**
 * The hedge: a second attempt sent early, for a call that is slower than nearly all others. The first answer wins
 * and the loser is cancelled; of *tied* ones the first on which the callee begins, so that nothing is done twice. It
 * helps against one slow replica among healthy ones, and harms when all are slow, so it spends from the same budget as
 * retries. Only for operations that are idempotent.
 *
 * A hedge is never a probe, a probe is never hedged, and a hedge that is refused locally never ends the race.
 * Sources: Dean and Barroso, "The Tail at Scale"; the Basketly page, Part 5; the resilience notes, §05.
 */
import type { Admission, Plan } from "../admission.ts";
import { Attempt } from "../attempt.ts";
import type { Budget, Token } from "../budget/budget.ts";
import { after, type Exit, type Rejected, rejected } from "../call.ts";
import type { Fiber, Next, Sequence, Step, Steps } from "../driver.ts";
import { OptionError } from "../errors.ts";
import { callEvent } from "../events.ts";
import { HEDGE_LOST } from "../evidence.ts";
import { MAX_TIMER_MS, Timer } from "../runtime.ts";
import type { Binding, Guard } from "../stack.ts";
import { type HedgeOptions, HedgePolicy } from "./machine.ts";

const NOT_SENT: Rejected = rejected("hedge", "the first attempt has not been sent");
const PROBE: Rejected = rejected("hedge", "the first attempt is a probe");
const QUIET: Rejected = rejected("hedge", "the dependency has asked for less");
const BEGUN: Rejected = rejected("hedge", "the callee has begun");

/** Sends another attempt when those in flight are slow. */
export class HedgeGuard implements Sequence {
  readonly name = "hedge";
  readonly policy: HedgePolicy;
  private readonly budget: Budget | null;

  constructor(options: HedgeOptions, at: Binding, field = "hedge") {
    this.policy = new HedgePolicy(options, field);
    this.budget = at.budget;
    if (!at.idempotent) throw new OptionError(field, options, "nothing unless the operation is idempotent");
  }

  *run(plan: Plan, next: Next, fiber: Fiber): Steps {
    const { runtime } = fiber.root;
    const race = new Race(fiber, next, this.policy.tied);
    race.enter(plan, runtime.now());
    let nextMs = this.policy.delayMs(runtime.now());
    let last: Exit | null = null;
    try {
      while (last === null || race.running > 0 || nextMs < Infinity) {
        const end = (yield race.within(nextMs)) as End | null;
        const now = runtime.now();
        if (end !== null) {
          this.learn(end, now);
          if (this.decides(end.exit)) return decided(end.exit, last, race.running > 0 || race.mayHaveRun);
          // A hedge that was refused here has sent nothing, and says nothing about the call.
          if (last === null || end.exit.kind !== "rejected") last = after(last, end.exit);
          nextMs = this.afterEnd(end.exit, race, plan, now);
        } else nextMs = this.hedge(race, plan, now);
      }
      return race.mayHaveRun ? unsure(last) : last;
    } finally {
      this.giveUp(race, runtime.now());
    }
  }

  private decides(exit: Exit): boolean {
    return exit.kind === "ok" || (exit.kind === "failed" && this.policy.isFinal(exit));
  }

  /** How long it is until another may be sent, after one has ended without deciding the race: sent already, if it may. */
  private afterEnd(exit: Exit, race: Race, plan: Plan, now: number): number {
    if (exit.kind !== "failed" || this.isFull(race)) return Infinity;
    const ms = this.policy.afterFailureMs(exit);
    if (ms >= plan.call.deadline - now) return Infinity;
    return ms === 0 ? this.hedge(race, plan, now) : ms;
  }

  /** Sends another attempt, if it may; returns how long it is until one more, `Infinity` for never. */
  private hedge(race: Race, plan: Plan, now: number): number {
    const token = this.mayHedge(race, now);
    if (token !== null && token.kind === "rejected") {
      emitStopped(plan, race.fiber, token);
      return Infinity;
    }
    race.enter({ ...plan, number: plan.number + race.branches.length, kind: "hedge", token }, now);
    return this.isFull(race) ? Infinity : this.policy.delayMs(now);
  }

  private isFull(race: Race): boolean {
    return race.branches.length >= this.policy.attempts;
  }

  /** A token, null where no budget is kept, or why not. */
  private mayHedge({ branches: [first], begun }: Race, now: number): Token | Rejected | null {
    if (begun) return BEGUN;
    const attempt = first?.fiber.step instanceof Attempt ? first.fiber.step : null;
    const isSent = attempt?.state === "sent" && attempt.kind !== "fallback";
    if (!isSent && first?.fiber.exit === null) return NOT_SENT;
    for (let within: Admission | null = attempt; within !== null; within = around(within)) {
      if (within.kind === "probe") return PROBE;
    }
    if (this.policy.isQuiet(now)) return QUIET;
    return this.budget === null ? null : this.budget.reserve("hedge", now, null);
  }

  private learn({ branch, exit }: End, now: number): void {
    if (exit.kind === "ok") this.policy.took(now - branch.enteredAt, now);
    else if (exit.kind === "failed" && exit.class === "throttling") {
      this.policy.overloaded(exit, now);
    }
  }

  /** Whoever has not answered would have taken at least as long as until now. */
  private giveUp(race: Race, now: number): void {
    for (const branch of race.branches) {
      if (branch.fiber.exit === null && race.won) this.policy.took(now - branch.enteredAt, now);
      lose(branch);
    }
  }
}

/** The answer of a race; whatever it says of its own attempt, the others may have done something. */
function decided(exit: Exit, last: Exit | null, othersRun: boolean): Exit {
  return exit.kind === "failed" && othersRun ? { ...exit, effect: "unknown" } : after(last, exit);
}

function emitStopped(plan: Plan, fiber: Fiber, refusal: Rejected): void {
  const { runtime } = fiber.root;
  if (runtime.sink === null) return;
  const body = { type: "hedge.stopped", by: refusal.by, reason: refusal.reason } as const;
  runtime.emit(callEvent(plan.call, runtime.now(), body));
}

/** The sequence around it, if the same call's: an attempt around a call is another dependency's business. */
function around({ outer }: Admission): Admission | null {
  return outer instanceof Attempt ? null : outer;
}

/** One of the attempts that run for a call. */
interface Branch {
  readonly fiber: Fiber;
  readonly plan: Plan;
  readonly enteredAt: number;
}

/** Another has won, or has been begun on. */
function lose({ fiber, plan }: Branch): void {
  if (plan.kind === "hedge" && plan.token !== null) plan.token.cancel();
  fiber.cancel(HEDGE_LOST);
}

/** Whether anything of it has left, as far as can be told: it waits for its first attempt, or else it has. */
function hasSent({ fiber: { step } }: Branch): boolean {
  return !(step instanceof Attempt) || step.state === "sent" || step.kind === "retry";
}

/** The same where another attempt may have done what this one has not. */
function unsure(exit: Exit): Exit {
  return exit.kind === "failed" && exit.effect === "none" ? { ...exit, effect: "unknown" } : exit;
}

/** How one of them ended. */
interface End {
  readonly branch: Branch;
  readonly exit: Exit;
}

/** Branches of one call; each wait takes the next end, in the order in which they came. */
class Race extends Timer implements Step {
  readonly fiber: Fiber;
  readonly branches: Branch[] = [];
  /** Branches whose end has not been taken. */
  running = 0;
  /** Whether one has answered. */
  won = false;
  /** Whether the callee has begun on one of them, where they are tied: the others are given up. */
  begun = false;
  /** Whether one of those that were given up for it had been sent: what that has done, nobody will know. */
  mayHaveRun = false;
  private readonly next: Next;
  private readonly tied: boolean;
  private readonly ends: End[] = [];
  private waiting = false;
  private limitMs = Infinity;

  constructor(fiber: Fiber, next: Next, tied: boolean) {
    super();
    this.fiber = fiber;
    this.next = next;
    this.tied = tied;
  }

  enter(given: Plan, enteredAt: number): void {
    const plan = this.tied ? { ...given, tie: { started: () => this.started(branch) } } : given;
    const fiber: Fiber = this.fiber.fork(this.next, plan, (exit) => {
      if (exit.kind === "ok") this.won = true;
      this.ends.push({ branch, exit });
      if (this.waiting) this.resume();
    });
    const branch: Branch = { fiber, plan, enteredAt };
    this.branches.push(branch);
    this.running++;
  }

  /** The callee has begun on one that is tied to the others. */
  private started(begun: Branch): void {
    if (this.won) return;
    this.begun = true;
    for (const branch of this.branches) {
      if (branch === begun || branch.fiber.exit !== null) continue;
      if (hasSent(branch)) this.mayHaveRun = true;
      lose(branch);
      this.running--;
    }
  }

  within(limitMs: number): this {
    this.limitMs = limitMs;
    return this;
  }

  begin(): void {
    this.waiting = true;
    if (this.ends.length > 0) this.resume();
    else if (this.limitMs <= MAX_TIMER_MS) this.arm();
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
    const end = this.ends.shift() ?? null;
    if (end !== null) this.running--;
    this.fiber.resume(end);
  }
}

/** A hedge as a layer of a stack. */
export function hedge(options: HedgeOptions, field = "hedge"): Guard {
  return { name: "hedge", bind: (at) => new HedgeGuard(options, at, field) };
}
