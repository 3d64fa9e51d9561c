/**
 * A request that has a place: its own work, then its calls to others, then its answer. It is its own timer, and hears
 * the answers of its calls itself. When its call is given up (a cancel, or its deadline) it stops at once and gives
 * up what it waits for; only then has the work ended, and the place is free.
 */
import type { Attempt } from "../core/attempt.ts";
import type { Exit } from "../core/call.ts";
import type { Answer, CallProcess } from "../core/process.ts";
import { Timer } from "../core/runtime.ts";
import { wake } from "./clock.ts";
import { DEGRADED, type Exchange, type Origin, RETRYABLE_503, WHOLE } from "./exchange.ts";
import type { Target } from "./link.ts";
import type { Served } from "./server.ts";
import type { Action } from "./workload.ts";

/** The work of one request. */
export class Handler extends Timer implements Origin, Answer {
  readonly exchange: Exchange;
  #attempt: Attempt;
  #call: CallProcess | null = null;
  #step = 0;
  #value = WHOLE;
  #done = false;

  constructor(exchange: Exchange, attempt: Attempt) {
    super();
    this.exchange = exchange;
    this.#attempt = attempt;
  }

  get action(): Action {
    return this.exchange.action;
  }

  get target(): Target {
    return this.#served.calls[this.#step - 1] as Target;
  }

  get #served(): Served {
    return this.exchange.served as Served;
  }

  /** Starts. */
  begin(): void {
    const attempt = this.#attempt;
    if (this.exchange.link.carriesCancels || attempt.call.deadline < Infinity) {
      attempt.onAbort((reason) => this.#stop(reason));
    }
    const { time } = this.#served;
    if (time.takesTime) wake(attempt.runtime, this, time.draw(attempt.sentAt));
    else this.#goOn();
  }

  override fire(): void {
    this.#goOn();
  }

  /** A call to another service has ended. */
  answered(exit: Exit): void {
    if (this.#done) return;
    this.#call = null;
    this.target.link.tap.ended(exit);
    if (exit.kind !== "ok") {
      this.#end(false);
      return;
    }
    if (exit.value === DEGRADED || exit.degradedBy !== undefined) this.#value = DEGRADED;
    this.#goOn();
  }

  #goOn(): void {
    const target = this.#served.calls[this.#step++];
    if (target === undefined) this.#end(true);
    else this.#call = target.call(this, this.#attempt.call.deadline, this);
  }

  #end(ok: boolean): void {
    this.#done = true;
    const { exchange } = this;
    exchange.server.tap.finished(exchange, ok);
    if (ok) this.#attempt.succeed(this.#value);
    else this.#attempt.fail(RETRYABLE_503);
  }

  #stop(reason: unknown): void {
    if (this.#done) return;
    this.#done = true;
    const { exchange } = this;
    const attempt = this.#attempt;
    exchange.server.tap.stopped(exchange);
    attempt.runtime.cancel(this);
    if (this.#call !== null) this.#call.cancel(reason);
    attempt.fail(RETRYABLE_503);
  }
}
