/**
 * The SDK's own retry loop on our books: a `retryStrategy` that asks a dependency's budget before each repeat, and
 * takes its waits from our backoffs. For clients that must keep their loop; `guardedAws` does more.
 *
 * The loop tells a strategy when a call begins, after each failure, and of a success; not of a caller who leaves. So a
 * token is spent when its wait is over, whether or not somebody still wants the repeat: the books may count one more
 * than was sent, never one less, and nothing stays reserved.
 *
 * Source: @smithy/core 3.41 (`RetryStrategyV2`, and the middleware that asks it).
 */
import { awsBackoff, type BackoffOption } from "../../core/backoff/machine.ts";
import type { Budget, Token } from "../../core/budget/budget.ts";
import { Call, ok, PLAIN_CALL } from "../../core/call.ts";
import { OptionError } from "../../core/errors.ts";
import { checkBoolean, checkKeys, orDefault } from "../../core/options.ts";
import type { Random } from "../../core/random.ts";
import { RetryPolicy } from "../../core/retry/machine.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Dependency } from "../../facade/dependency.ts";
import { ambient } from "../../facade/host.ts";
import { plugNode } from "../host.ts";
import { nodeRuntime } from "../runtime.ts";
import { failureOf } from "./failure.ts";

/** Options of `budgetedRetries`. */
export interface SdkRetryOptions {
  /** Attempts in all, the first included; 1 to 100, whole. Default 3 (the SDK's own). */
  readonly attempts?: number;
  /** Waits between attempts. Default `awsBackoff()` (the SDK's own). */
  readonly backoff?: BackoffOption;
  /**
   * Whether every command of the client may be repeated when nobody knows whether it had an effect (a 500, a lost
   * connection). Default false: only after throttling, and where nothing was sent. The SDK's own strategy repeats all.
   */
  readonly idempotent?: boolean;
}

/** What the SDK's loop hands from attempt to attempt. */
export interface SdkRetryToken {
  /** Repeats so far. */
  getRetryCount(): number;
  /** What is left to wait, in ms: 0, the wait is over. */
  getRetryDelay(): number;
}

/** For `retryStrategy` of any client of the SDK: its `RetryStrategyV2`. */
export interface SdkRetryStrategy {
  /** A call begins. */
  acquireInitialRetryToken(scope: string): Promise<SdkRetryToken>;
  /** An attempt failed: resolves when the next may be sent, or rejects if none may. */
  refreshRetryTokenForRetry(token: SdkRetryToken, failure: { error?: unknown }): Promise<SdkRetryToken>;
  /** An attempt succeeded. */
  recordSuccess(token: SdkRetryToken): void;
}

/**
 * A `retryStrategy` whose repeats are counted by the dependency's budget, together with those of its operations. A
 * request that is being served bounds its waits. Throws an `OptionError` for a wrong option, and for a budget that
 * counts what is in flight: the loop does not tell of every end.
 */
export function budgetedRetries(
  dependency: Dependency,
  options: SdkRetryOptions = {},
  runtime: Runtime = nodeRuntime,
): SdkRetryStrategy {
  plugNode();
  checkKeys("budgetedRetries", options, ["attempts", "backoff", "idempotent"]);
  const { name, budget } = dependency;
  if (budget?.countsInFlight === true)
    throw new OptionError(
      "budgetedRetries.dependency",
      name,
      "one whose budget does not count what is in flight",
    );
  const { attempts, backoff = awsBackoff() } = options;
  const idempotent = checkBoolean("budgetedRetries.idempotent", orDefault(options.idempotent, false));
  const retry = { backoff, ...(attempts !== undefined && { attempts }) };
  const policy = new RetryPolicy(retry, budget, 0, "budgetedRetries");
  const random = runtime.random.fork(`retry ${name}.sdk`);
  return new Strategy({ name, budget, policy, runtime, random, idempotent });
}

interface Settings {
  readonly name: string;
  readonly budget: Budget | null;
  readonly policy: RetryPolicy;
  readonly runtime: Runtime;
  readonly random: Random;
  readonly idempotent: boolean;
}

/** One attempt of a call. */
class AttemptToken implements SdkRetryToken {
  readonly call: Call;
  readonly number: number;
  /** What the attempt has spent; null for a first one. */
  readonly token: Token | null;
  /** The wait before it, and the attempt from which the backoff counts. */
  readonly delayMs: number;
  readonly backoffFrom: number;

  constructor(call: Call, number: number, token: Token | null, delayMs: number, backoffFrom: number) {
    this.call = call;
    this.number = number;
    this.token = token;
    this.delayMs = delayMs;
    this.backoffFrom = backoffFrom;
  }

  getRetryCount(): number {
    return this.number - 1;
  }

  getRetryDelay(): number {
    return 0;
  }
}

class Strategy implements SdkRetryStrategy {
  private readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  async acquireInitialRetryToken(): Promise<SdkRetryToken> {
    const { name, budget, runtime, idempotent } = this.settings;
    const spec = { dependency: name, operation: "sdk", idempotent };
    budget?.firstSent(runtime.now());
    return new AttemptToken(new Call(spec, PLAIN_CALL, ambient()?.deadline ?? Infinity, 0), 1, null, 0, 0);
  }

  async refreshRetryTokenForRetry(
    last: AttemptToken,
    { error }: { error?: unknown },
  ): Promise<SdkRetryToken> {
    const { budget, policy, runtime, random } = this.settings;
    const { call, number } = last;
    const failure = failureOf(error);
    budget?.settled(failure, last.token);
    const now = runtime.now();
    const decision = policy.decide(failure, number, call, now, last.delayMs, random, last.backoffFrom);
    if (decision === null || decision.kind === "rejected") throw error; // the loop reports it in either case
    const { delayMs, token, backoffFrom } = decision;
    if (delayMs > 0) await new Promise<void>((over) => void runtime.after(delayMs, over));
    token?.sent(runtime.now());
    return new AttemptToken(call, number + 1, token, delayMs, backoffFrom);
  }

  recordSuccess({ token }: AttemptToken): void {
    this.settings.budget?.settled(ok(undefined), token);
  }
}
