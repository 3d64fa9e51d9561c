/**
 * The fallback: what to answer when the dependency does not. Cheaper than the primary, safe, and with time of its
 * own: the primary gets the call's deadline less `reserveMs`. Its answer is marked as degraded by what it replaced.
 * Sources: the Basketly page, Part 9; the resilience notes, §08.
 */
import type { Plan } from "../admission.ts";
import { Attempt } from "../attempt.ts";
import type { Exit, Failed, Rejected } from "../call.ts";
import type { Fiber, Next, Sequence, Steps } from "../driver.ts";
import { OptionError } from "../errors.ts";
import { callEvent } from "../events.ts";
import { endingOf } from "../evidence.ts";
import type { Leaf } from "../leaf.ts";
import { checkFunction, checkKeys, checkMs, orDefault } from "../options.ts";
import type { Process } from "../progress.ts";
import type { Binding, Guard } from "../stack.ts";
import { plain } from "../timed-out.ts";

/** Makes the substitute answer. It sees what it replaces. */
export type FallbackFunction = (because: Failed | Rejected, attempt: Attempt) => unknown;

/** Options of `fallback`, where a function alone is not enough. */
export interface FallbackOptions {
  /** Makes the substitute, or a promise of one. It sees what it replaces. */
  readonly run: FallbackFunction;
  /**
   * Time kept for it: the primary's deadline is this much earlier, in ms, 0 to 2^31 − 1. Default 0, right for a local
   * answer.
   */
  readonly reserveMs?: number;
  /** Its own limit in ms, 1 to 2^31 − 1. Default: `reserveMs`, or 100 without one (our choice). */
  readonly timeoutMs?: number;
  /** Whether it also replaces permanent failures. Default false: a bad request is not an outage. */
  readonly permanent?: boolean;
}

/** The plan of the primary: its time ends early enough for a substitute. */
export function reserved(plan: Plan, reserveMs: number): Plan {
  if (reserveMs === 0 || plan.call.deadline === Infinity) return plan;
  return { ...plan, call: plan.call.with({ deadline: plan.call.deadline - reserveMs }) };
}

/** Answers in place of a dependency that does not. */
export class FallbackGuard implements Sequence {
  readonly name = "fallback";
  readonly reserveMs: number;
  private readonly substitute: FallbackFunction;
  private readonly leaf: Leaf;
  private readonly permanent: boolean;

  constructor(option: FallbackFunction | FallbackOptions, at: Binding, field = "fallback") {
    const options = typeof option === "function" ? { run: option } : option;
    checkKeys(field, options, ["run", "reserveMs", "timeoutMs", "permanent"]);
    this.substitute = checkFunction(`${field}.run`, options.run);
    this.reserveMs = checkMs(`${field}.reserveMs`, orDefault(options.reserveMs, 0));
    this.permanent = orDefault(options.permanent, false);
    if (typeof this.permanent !== "boolean")
      throw new OptionError(`${field}.permanent`, this.permanent, "true or false");
    const timeoutMs = checkMs(`${field}.timeoutMs`, orDefault(options.timeoutMs, this.reserveMs || 100), {
      min: 1,
    });
    this.leaf = at.leaf({ attemptTimeoutMs: timeoutMs });
  }

  /** What it replaces, as the substitute will see it; null when the exit stands. */
  replaces(exit: Exit): Failed | Rejected | null {
    if (exit.kind === "rejected") return exit;
    return exit.kind === "failed" && (this.permanent || exit.class !== "permanent") ? plain(exit) : null;
  }

  /** Makes the substitute, as an attempt of its own. */
  attempt(because: Failed | Rejected, plan: Plan, maker: Process): Attempt {
    const { runtime, exit } = maker.root;
    if (runtime.sink !== null && exit === null) {
      const body = { type: "fallback.used", because: endingOf(because) } as const;
      runtime.emit(callEvent(plan.call, runtime.now(), body));
    }
    const work = (attempt: Attempt) => this.substitute(because, attempt);
    return new Attempt(
      runtime,
      this.leaf,
      { call: plan.call.withoutDeadline(), number: 1, kind: "fallback", token: null, outer: plan.outer },
      maker,
      work,
    );
  }

  /** The answer: the substitute, marked, or the first failure if the substitute failed too. */
  result(because: Failed | Rejected, substitute: Exit): Exit {
    return substitute.kind === "ok" ? { kind: "ok", value: substitute.value, degradedBy: because } : because;
  }

  *run(plan: Plan, next: Next, fiber: Fiber): Steps {
    const exit = yield* next(reserved(plan, this.reserveMs), fiber);
    const because = this.replaces(exit);
    if (because === null) return exit;
    return this.result(because, (yield this.attempt(because, plan, fiber)) as Exit);
  }
}

/** A fallback as a layer of a stack. */
export function fallback(option: FallbackFunction | FallbackOptions, field = "fallback"): Guard {
  return { name: "fallback", bind: (at) => new FallbackGuard(option, at, field) };
}
