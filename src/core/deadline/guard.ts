/**
 * The deadline: a point in time after which nobody wants the answer. It bounds the whole call, all its attempts,
 * waits and backoffs; every inner layer takes the smaller of its own limit and the time left. It is kept as an
 * absolute time on the monotonic clock, so steps of the wall clock change nothing.
 * Sources: the Basketly page, Part 2; the resilience notes, §02.
 */
import type { Plan } from "../admission.ts";
import type { Fiber, Next, Sequence, Steps } from "../driver.ts";
import { checkMs } from "../options.ts";
import type { Guard } from "../stack.ts";

/** Bounds everything within to `totalTimeoutMs` from its start, or to the caller's deadline if that is sooner. */
export class DeadlineGuard implements Sequence {
  readonly name = "deadline";
  readonly totalTimeoutMs: number;

  constructor(totalTimeoutMs: number, field = "totalTimeoutMs") {
    this.totalTimeoutMs = checkMs(field, totalTimeoutMs, { min: 1 });
  }

  run(plan: Plan, next: Next, fiber: Fiber): Steps {
    const deadline = fiber.root.runtime.now() + this.totalTimeoutMs;
    return next({ ...plan, call: plan.call.with({ deadline }) }, fiber);
  }
}

/** A deadline as a layer of a stack; 1 to 2^31 − 1 ms. */
export function deadline(totalTimeoutMs: number): Guard {
  const guard = new DeadlineGuard(totalTimeoutMs);
  return { name: "deadline", bind: () => guard };
}
