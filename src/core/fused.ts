/**
 * The fused path: the library's own order, driven without generators.
 *
 * It holds no logic of a guard. It makes the same attempts, asks the same retry machine and the same fallback, and
 * leaves every continuation to the loop at the same points as the generators do, so that both give one event log.
 * The only short cut: an answer is fixed at once when nothing else is ready to run, since it would be the very next.
 */
import type { Admission, Plan } from "./admission.ts";
import { Attempt } from "./attempt.ts";
import type { Token } from "./budget/budget.ts";
import {
  after,
  type Call,
  type CallFields,
  type Exit,
  type Failed,
  failed,
  type OperationSpec,
  type Rejected,
} from "./call.ts";
import type { FallbackGuard } from "./fallback/guard.ts";
import type { Leaf } from "./leaf.ts";
import { type Answer, CallProcess } from "./progress.ts";
import { emitDecision, type RetryGuard, reported } from "./retry/guard.ts";
import type { Again } from "./retry/machine.ts";
import { type Runtime, Timer } from "./runtime.ts";

/** Before the first repeat. */
const NOT_YET = { delayMs: 0, backoffFrom: 0 };

/** The library's own order, bound. */
export interface FusedPolicy {
  readonly fallback: FallbackGuard | null;
  readonly retry: RetryGuard | null;
  readonly leaf: Leaf;
  /** Whether something is done with a good answer before it is delivered. */
  readonly mindsAnswers: boolean;
}

/** A call under that order. It is itself the plan of its first attempt. */
export class FusedCall extends CallProcess implements Plan {
  private readonly policy: FusedPolicy;
  private attempt: Attempt | null = null;
  /** An attempt's exit that waits for its turn in the loop. */
  private pending: Exit | null = null;
  /** What there is to know once it is tried again. */
  private repeat: Repeat | null = null;
  /** What the running fallback replaces. */
  private because: Failed | Rejected | null = null;

  constructor(
    runtime: Runtime,
    spec: OperationSpec,
    fields: CallFields,
    deadline: number,
    work: unknown,
    answer: Answer | null,
    policy: FusedPolicy,
    outer: Admission | null,
  ) {
    super(runtime, spec, fields, deadline, work, answer, outer);
    this.policy = policy;
  }

  get call(): Call {
    return this;
  }

  get number(): number {
    return 1;
  }

  get kind(): "original" {
    return "original";
  }

  get token(): null {
    return null;
  }

  override answered(_attempt: Attempt, exit: Exit): void {
    this.attempt = null;
    const { loop } = this.runtime;
    if (exit.kind === "ok" && this.because === null && loop.idle && !this.policy.mindsAnswers)
      return this.finishAtOnce(exit);
    this.pending = exit;
    loop.push(this);
  }

  protected override advance(now: number | null): void {
    const exit = this.pending;
    this.pending = null;
    if (exit === null) this.send(this.repeat ?? this, now ?? this.runtime.now());
    else if (exit.kind === "ok") this.conclude(exit);
    else this.afterFailure(exit);
  }

  protected override unwind(reason: unknown): void {
    if (this.repeat !== null) this.repeat.cancel();
    if (this.attempt !== null) this.attempt.cancel(reason);
  }

  private send(plan: Plan, now: number): void {
    const attempt = new Attempt(this.runtime, this.policy.leaf, plan, this, this.work);
    this.attempt = attempt;
    attempt.begin(now);
  }

  private afterFailure(last: Exit): void {
    const { retry } = this.policy;
    if (retry === null || this.because !== null) return this.conclude(last);
    const { repeat } = this;
    const exit = repeat === null ? last : after(repeat.failure, last);
    if (exit.kind === "rejected" && repeat !== null) return this.conclude(reported(repeat.failure, exit));
    const now = this.runtime.now();
    const number = repeat === null ? 1 : repeat.number;
    const decision = this.decide(exit, retry, number, now);
    if (this.exit !== null) return;
    if (decision !== null) emitDecision(this, decision, number);
    if (decision === null || decision.kind === "rejected") return this.conclude(reported(exit, decision));
    const next = new Repeat(this, number + 1, decision, exit);
    this.repeat = next;
    if (decision.delayMs === 0) this.send(next, now);
    else this.runtime.arm(next, now + decision.delayMs);
  }

  /** Asks the retry machine, and with it a backoff of the user's, which may throw or cancel this very call. */
  private decide(exit: Exit, retry: RetryGuard, number: number, now: number): Again | Rejected | null {
    try {
      const { delayMs, backoffFrom } = this.repeat ?? NOT_YET;
      const decision = retry.policy.decide(exit, number, this, now, delayMs, retry.random, backoffFrom);
      if (this.exit !== null && decision?.kind === "again") decision.token?.cancel();
      return decision;
    } catch (error) {
      this.finish(failed(error, "permanent"));
      return null;
    }
  }

  private conclude(exit: Exit): void {
    const { fallback } = this.policy;
    if (fallback === null) this.finish(exit);
    else this.concludeWith(fallback, exit);
  }

  private concludeWith(fallback: FallbackGuard, exit: Exit): void {
    if (this.because !== null) return this.finish(fallback.result(this.because, exit));
    const because = fallback.replaces(exit, this, this.runtime.now());
    if (because === null) return this.finish(exit);
    this.because = because;
    this.attempt = fallback.attempt(because, this, this);
    this.attempt.begin();
  }
}

/** The plan of a repeat, and the wait before it. */
class Repeat extends Timer implements Plan {
  readonly call: FusedCall;
  readonly number: number;
  readonly kind = "retry";
  readonly token: Token | null;
  readonly outer: Admission | null;
  readonly delayMs: number;
  readonly backoffFrom: number;
  /** How the attempt before it ended. */
  readonly failure: Exit;

  constructor(call: FusedCall, number: number, { delayMs, token, backoffFrom }: Again, failure: Exit) {
    super();
    this.call = call;
    this.outer = call.outer;
    this.number = number;
    this.token = token;
    this.delayMs = delayMs;
    this.backoffFrom = backoffFrom;
    this.failure = failure;
  }

  override fire(): void {
    this.call.runtime.loop.push(this.call);
  }

  /** The call is given up: no wait, and the token goes back if it has not been spent. */
  cancel(): void {
    this.call.runtime.cancel(this);
    if (this.token !== null) this.token.cancel();
  }
}
