/**
 * A request that has a place: its own work, then its calls to others, then its answer. It is its own timer, and hears
 * the answers of its calls itself. When its call has ended without it (a cancel, or a deadline) it stops at once and
 * gives up what it waits for; only then has the work ended, and the place is free.
 */
import type { Attempt } from "../core/attempt.ts";
import type { Exit } from "../core/call.ts";
import type { ClassifiedError } from "../core/classify.ts";
import type { Answer, CallProcess } from "../core/progress.ts";
import { Timer } from "../core/runtime.ts";
import { wake } from "./clock.ts";
import {
  DEGRADED,
  type Exchange,
  isLate,
  type Origin,
  RETRYABLE_503,
  RETRYABLE_504,
  WHOLE,
} from "./exchange.ts";
import type { Target } from "./link.ts";
import type { Action } from "./workload.ts";

/** The work of one request. */
export class Handler extends Timer implements Origin, Answer {
  readonly exchange: Exchange;
  /** Null once the work has ended. */
  private attempt: Attempt | null;
  private call: CallProcess | null = null;
  private step = 0;
  private value = WHOLE;

  constructor(exchange: Exchange, attempt: Attempt) {
    super();
    this.exchange = exchange;
    this.attempt = attempt;
    exchange.handler = this;
  }

  get action(): Action {
    return this.exchange.action;
  }

  get target(): Target {
    return this.exchange.served.calls[this.step - 1] as Target;
  }

  /** Starts. */
  begin(attempt: Attempt): void {
    const { time } = this.exchange.served;
    if (time.takesTime) wake(attempt.runtime, this, time.draw(attempt.sentAt));
    else this.goOn(attempt);
  }

  override fire(): void {
    if (this.attempt !== null) this.goOn(this.attempt);
  }

  /** A call to another service has ended. */
  answered(exit: Exit): void {
    const { attempt } = this;
    if (attempt === null) return;
    this.call = null;
    this.target.link.tap.ended(exit);
    if (exit.kind !== "ok") {
      this.end(attempt, isLate(exit) ? RETRYABLE_504 : RETRYABLE_503);
      return;
    }
    if (exit.value === DEGRADED || exit.degradedBy !== undefined) this.value = DEGRADED;
    this.goOn(attempt);
  }

  /** The call that this work is for has ended. */
  stop(exit: Exit): void {
    const { attempt, exchange, call } = this;
    if (attempt === null) return;
    this.attempt = null;
    exchange.served.server.tap.stopped(exchange);
    attempt.runtime.cancel(this);
    if (call !== null) call.cancel(exit);
    attempt.fail(RETRYABLE_503);
  }

  private goOn(attempt: Attempt): void {
    const target = this.exchange.served.calls[this.step++];
    if (target === undefined) this.end(attempt, null);
    else this.call = target.call(this, attempt.call.deadline, this);
  }

  private end(attempt: Attempt, failure: ClassifiedError | null): void {
    const { exchange } = this;
    this.attempt = null;
    exchange.served.server.tap.finished(exchange, failure === null);
    if (failure === null) attempt.succeed(this.value);
    else attempt.fail(failure);
  }
}
