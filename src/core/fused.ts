/**
 * The fused path: the library's own order, driven without generators.
 *
 * It holds no logic of a guard. It makes the same attempts, asks the same retry machine and the same fallback, and
 * leaves every continuation to the loop at the same points as the generators do, so that both give one event log.
 * The only short cut: an answer is fixed at once when nothing else is ready to run, since it would be the very next.
 */
import type { Plan } from "./admission.ts";
import { Attempt, type Leaf } from "./attempt.ts";
import type { Token } from "./budget/machine.ts";
import { type Call, type Exit, type Failed, failed, type Rejected } from "./call.ts";
import type { FallbackGuard } from "./fallback/guard.ts";
import { type Answer, CallProcess } from "./process.ts";
import { emitDecision, type RetryGuard, reported } from "./retry/guard.ts";
import type { Again } from "./retry/machine.ts";
import { type Runtime, Timer } from "./runtime.ts";

/** The library's own order, bound. */
export interface FusedPolicy {
  readonly fallback: FallbackGuard | null;
  readonly retry: RetryGuard | null;
  readonly leaf: Leaf;
}

/** A call under that order. It is itself the plan of its next attempt. */
export class FusedCall extends CallProcess implements Plan {
  number = 1;
  kind: "original" | "retry" = "original";
  token: Token | null = null;
  readonly outer = null;
  private readonly policy: FusedPolicy;
  private attempt: Attempt | null = null;
  /** An attempt's exit that waits for its turn in the loop. */
  private pending: Exit | null = null;
  private failure: Exit | null = null;
  private delayMs = 0;
  private backoff: Backoff | null = null;
  /** What the running fallback replaces. */
  private because: Failed | Rejected | null = null;

  constructor(runtime: Runtime, call: Call, work: unknown, answer: Answer | null, policy: FusedPolicy) {
    super(runtime, call, work, answer);
    this.policy = policy;
  }

  override answered(_attempt: Attempt, exit: Exit): void {
    this.attempt = null;
    const { loop } = this.runtime;
    if (exit.kind === "ok" && loop.idle) return this.conclude(exit);
    this.pending = exit;
    loop.push(this);
  }

  protected override begin(now: number): void {
    this.send(now);
  }

  protected override advance(): void {
    const exit = this.pending;
    this.pending = null;
    if (exit === null) this.send(this.runtime.now());
    else if (exit.kind === "ok") this.conclude(exit);
    else this.afterFailure(exit);
  }

  protected override unwind(reason: unknown): void {
    if (this.backoff !== null) this.runtime.cancel(this.backoff);
    if (this.token !== null) this.token.cancel();
    if (this.attempt !== null) this.attempt.cancel(reason);
  }

  private send(now: number): void {
    const attempt = new Attempt(this.runtime, this.policy.leaf, this, this);
    this.attempt = attempt;
    attempt.begin(now);
  }

  private afterFailure(exit: Exit): void {
    const { retry } = this.policy;
    if (retry === null || this.because !== null) return this.conclude(exit);
    if (exit.kind === "rejected" && this.failure !== null) return this.conclude(reported(this.failure, exit));
    const now = this.runtime.now();
    const decision = this.decide(exit, retry, now);
    if (this.exit !== null) return;
    if (decision !== null) emitDecision(this, decision, this.number);
    if (decision === null || decision.kind === "rejected") return this.conclude(reported(exit, decision));
    this.failure = exit;
    this.number++;
    this.kind = "retry";
    this.token = decision.token;
    this.delayMs = decision.delayMs;
    if (decision.delayMs === 0) return this.send(now);
    this.backoff = new Backoff(this);
    this.runtime.arm(this.backoff, now + decision.delayMs);
  }

  /** Asks the retry machine, and with it a backoff of the user's, which may throw or cancel this very call. */
  private decide(exit: Exit, retry: RetryGuard, now: number): Again | Rejected | null {
    const { call, number } = this;
    try {
      const decision = retry.policy.decide(exit, number, call, now, this.delayMs, retry.random);
      if (this.exit !== null && decision?.kind === "again") decision.token?.cancel();
      return decision;
    } catch (error) {
      this.finish(failed(error, "permanent"));
      return null;
    }
  }

  private conclude(exit: Exit): void {
    const { fallback } = this.policy;
    if (fallback === null) return this.finish(exit);
    if (this.because !== null) return this.finish(fallback.result(this.because, exit));
    const because = fallback.replaces(exit);
    if (because === null) return this.finish(exit);
    this.because = because;
    this.attempt = fallback.attempt(because, this, this);
    this.attempt.begin();
  }
}

/** The wait between two attempts. */
class Backoff extends Timer {
  private readonly process: FusedCall;

  constructor(call: FusedCall) {
    super();
    this.process = call;
  }

  override fire(): void {
    this.process.runtime.loop.push(this.process);
  }
}
