/**
 * The fallback: what to answer when the dependency does not. Cheaper than the primary, safe, and with time of its
 * own: the primary gets the call's deadline less `reserveMs`. Its answer is marked as degraded by what it replaced.
 * Sources: the Basketly page, Part 9; the resilience notes, §08.
 */
import type { Plan } from "../admission.ts";
import { Attempt } from "../attempt.ts";
import { type Call, type Exit, type Failed, type Ok, type Rejected, rejected } from "../call.ts";
import type { Fiber, Next, Sequence, Steps } from "../driver.ts";
import { callEvent } from "../events.ts";
import { endingOf } from "../evidence.ts";
import type { Leaf } from "../leaf.ts";
import type { Process } from "../progress.ts";
import type { Random } from "../random.ts";
import type { Binding, Guard } from "../stack.ts";
import { plain } from "../timed-out.ts";
import { type FallbackOption, type FallbackSettings, fallbackSettings, notExecuted } from "./options.ts";
import { FallbackPlaces } from "./places.ts";

/** The plan of the primary: its time ends early enough for a substitute. */
export function reserved(plan: Plan, reserveMs: number): Plan {
  if (reserveMs === 0 || plan.call.deadline === Infinity) return plan;
  return { ...plan, call: plan.call.with({ deadline: plan.call.deadline - reserveMs }) };
}

const EXERCISED: Rejected = rejected("fallback", "exercised");

/** The same with the good answer that is replaced on purpose. */
interface Exercised extends Rejected {
  readonly answer: Exit;
}

/** Answers in place of a dependency that does not. */
export class FallbackGuard implements Sequence {
  readonly name = "fallback";
  readonly reserveMs: number;
  /** Whether it looks at good answers, too: to keep them, or to replace some on purpose. */
  readonly mindsAnswers: boolean;
  private readonly settings: FallbackSettings;
  private readonly leaf: Leaf;
  private readonly random: Random;

  constructor(option: FallbackOption, at: Binding, field = "fallback") {
    const settings = fallbackSettings(option, field);
    this.settings = settings;
    this.reserveMs = settings.reserveMs;
    this.mindsAnswers = settings.kept !== null || settings.exercise > 0;
    const { timeoutMs, limit } = settings;
    const admitters = limit < Infinity ? [new FallbackPlaces(limit, `${field}.limit`)] : [];
    this.leaf = at.leaf({ attemptTimeoutMs: timeoutMs, admitters });
    this.random = at.runtime.random.fork(`fallback ${at.dependency}.${at.operation}`);
  }

  /** What it replaces, as the substitute will see it; null when the exit stands. Asked once for each exit: a good answer is kept here. */
  replaces(exit: Exit, call: Call, now: number): Failed | Rejected | null {
    const { kept, permanent, notExecutedOnly } = this.settings;
    if (exit.kind === "ok") return this.mindsAnswers ? this.minds(exit, call, now) : null;
    if (exit.kind === "cancelled" || (exit.kind === "failed" && exit.class === "permanent" && !permanent))
      return null;
    if (notExecutedOnly && !notExecuted(exit)) return null;
    return kept !== null && kept.of(call, now) === null ? null : plain(exit);
  }

  private minds(exit: Ok<unknown>, call: Call, now: number): Exercised | null {
    const { kept, exercise } = this.settings;
    if (kept !== null && exit.degradedBy === undefined) kept.keep(call, exit.value, now);
    if (exercise === 0 || this.random.next() >= exercise) return null;
    // Less than whole, it was not kept, and nothing may be there to put in its place.
    if (kept !== null && kept.of(call, now) === null) return null;
    return { ...EXERCISED, answer: exit };
  }

  /** Makes the substitute, as an attempt of its own. */
  attempt(because: Failed | Rejected, plan: Plan, maker: Process): Attempt {
    const { runtime, exit } = maker.root;
    if (runtime.sink !== null && exit === null) {
      const why = "answer" in because ? "exercised" : endingOf(because);
      const body = { type: "fallback.used", because: why } as const;
      runtime.emit(callEvent(plan.call, runtime.now(), body));
    }
    const work = (attempt: Attempt) => this.settings.run(because, attempt);
    return new Attempt(
      runtime,
      this.leaf,
      { call: plan.call.withoutDeadline(), number: 1, kind: "fallback", token: null, outer: plan.outer },
      maker,
      work,
    );
  }

  /** The answer: the substitute, marked, or what it was to replace if the substitute failed too. */
  result(because: Failed | Rejected, substitute: Exit): Exit {
    const exercised = "answer" in because ? (because as Exercised).answer : null;
    if (substitute.kind !== "ok") return exercised ?? because;
    return { kind: "ok", value: substitute.value, degradedBy: exercised === null ? because : EXERCISED };
  }

  *run(plan: Plan, next: Next, fiber: Fiber): Steps {
    const exit = yield* next(reserved(plan, this.reserveMs), fiber);
    const because = this.replaces(exit, plan.call, fiber.root.runtime.now());
    if (because === null) return exit;
    return this.result(because, (yield this.attempt(because, plan, fiber)) as Exit);
  }
}

/** A fallback as a layer of a stack. */
export function fallback(option: FallbackOption, field = "fallback"): Guard {
  return { name: "fallback", bind: (at) => new FallbackGuard(option, at, field) };
}
