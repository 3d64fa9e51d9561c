/** Retry as a sequence: the loop around the decision of `machine.ts`. */
import type { Plan } from "../admission.ts";
import { after, type Exit, type Rejected } from "../call.ts";
import { type Fiber, type Next, type Sequence, Sleep, type Steps } from "../driver.ts";
import { callEvent } from "../events.ts";
import type { CallProcess } from "../progress.ts";
import type { Random } from "../random.ts";
import type { Guard } from "../stack.ts";
import { TimedOut } from "../timed-out.ts";
import { type Again, type RetryOptions, RetryPolicy } from "./machine.ts";

/** The exit to report when nothing is tried again: the dependency's last word, with what prevented a repeat. */
export function reported(exit: Exit, stopped: Rejected | null): Exit {
  if (stopped === null || exit.kind !== "failed") return exit;
  if (!(exit instanceof TimedOut)) return { ...exit, stoppedBy: stopped };
  exit.stoppedBy = stopped;
  return exit;
}

/** Tells the listener what was decided. */
export function emitDecision(root: CallProcess, decision: Again | Rejected, attempt: number): void {
  const { runtime } = root;
  if (runtime.sink === null || root.exit !== null) return;
  const body =
    decision.kind === "again"
      ? ({ type: "retry.scheduled", attempt: attempt + 1, delayMs: decision.delayMs } as const)
      : ({ type: "retry.stopped", by: decision.by, reason: decision.reason } as const);
  runtime.emit(callEvent(root, runtime.now(), body));
}

/** Repeats the layers within as its policy decides. */
export class RetryGuard implements Sequence {
  readonly name = "retry";
  readonly policy: RetryPolicy;
  readonly random: Random;

  constructor(policy: RetryPolicy, random: Random) {
    this.policy = policy;
    this.random = random;
  }

  *run(plan: Plan, next: Next, fiber: Fiber): Steps {
    const { root } = fiber;
    let { token } = plan;
    let failure: Exit | null = null;
    let delayMs = 0;
    let backoffFrom = 0;
    try {
      for (let number = 1; ; number++) {
        const kind = number === 1 ? plan.kind : "retry";
        const exit = after(failure, yield* next({ ...plan, number, kind, token }, fiber));
        if (exit.kind === "rejected" && failure !== null) return reported(failure, exit);
        const decision = this.policy.decide(
          exit,
          number,
          plan.call,
          root.runtime.now(),
          delayMs,
          this.random,
          backoffFrom,
        );
        if (decision !== null) emitDecision(root, decision, number);
        if (decision === null || decision.kind === "rejected") return reported(exit, decision);
        // One that a layer within has not spent (a flight's attempts are not this call's) goes back.
        if (token !== null) token.cancel();
        ({ delayMs, token, backoffFrom } = decision);
        failure = exit;
        if (delayMs > 0) yield new Sleep(fiber, delayMs);
      }
    } finally {
      if (token !== null) token.cancel();
    }
  }
}

/** Retry as a layer of a stack; it spends from the stack's budget. */
export function retry(options: RetryOptions = {}, field = "retry"): Guard {
  return {
    name: "retry",
    bind: (at) => {
      const random = at.runtime.random.fork(`retry ${at.dependency}.${at.operation}`);
      return new RetryGuard(new RetryPolicy(options, at.budget, at.minUsefulMs, field), random);
    },
  };
}
