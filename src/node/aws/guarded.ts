/**
 * A client of the AWS SDK under guards: each command is a guarded call, each attempt is exactly one request, and the
 * errors mean what the SDK means by them. The SDK still signs, serializes, finds its endpoint and corrects its clock.
 */
import { randomUUID } from "node:crypto";
import type { Attempt } from "../../core/attempt.ts";
import type { Outcome } from "../../core/call.ts";
import { field } from "../../core/classifiers/meaning.ts";
import { OptionError } from "../../core/errors.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { CallOptions } from "../../facade/call-options.ts";
import type { Dependency, Operation } from "../../facade/dependency.ts";
import { plugNode } from "../host.ts";
import { type AwsCommand, attemptAt, operationOf } from "./command.ts";
import { failureOf } from "./failure.ts";
import { type AwsGuardOptions, Operations } from "./options.ts";

/** A client of the AWS SDK for JavaScript v3, of whichever service. */
export interface AwsClient<Config> {
  readonly config: Config;
  send(command: never, options?: never): unknown;
}

/** A guarded client. */
export interface GuardedAws<Config> {
  /** What its commands share: bulkhead, budget, rate limit, throttle. */
  readonly dependency: Dependency;
  /**
   * Sends a command under its guards. Gives what the SDK gives, and rejects with the SDK's own errors, or with one of
   * Plimsoll's. `idempotencyKey` becomes the command's token (`ClientRequestToken`, say); a command without one refuses it.
   */
  send<Output>(command: AwsCommand<Config, Output>, call?: CallOptions): Promise<Output>;
  /** The same without throwing, and it tells more. Rejects only if cancelled, or for a wrong option. */
  outcome<Output>(command: AwsCommand<Config, Output>, call?: CallOptions): Promise<Outcome<Output>>;
  /** The guards of a command that has been sent, by the service's name for it: `operation("GetItem")?.breaker`. */
  operation(name: string): Operation<never, true> | undefined;
}

interface Sender {
  send(command: unknown, options: { abortSignal: AbortSignal }): Promise<unknown>;
}

/**
 * Guards a client: `guardedAws(new DynamoDBClient({}), { name: "dynamodb", operation: { … } })`. The SDK's retries are
 * off for what is sent through it, and only for that. Throws an `OptionError` that names the field for a wrong option.
 */
export function guardedAws<Config>(
  client: AwsClient<Config>,
  options: AwsGuardOptions,
  runtime?: Runtime,
): GuardedAws<Config> {
  if (typeof client?.send !== "function")
    throw new OptionError("guardedAws.client", client, "a client of the AWS SDK for JavaScript v3");
  plugNode();
  /** Attempts whose body was a stream: it has been read, so there is no second one. */
  const streams = new WeakSet<Attempt>();
  const operations = new Operations(options, runtime, (result, attempt) => {
    if (!("error" in result)) return undefined;
    const failure = failureOf(result.error);
    return streams.has(attempt) ? { ...failure, pushback: "never" } : failure;
  });
  /** Makes what is needed of a call, once for all its attempts. */
  const prepare = (command: AwsCommand<never, unknown>, call: CallOptions | undefined) => {
    const operation = operationOf(command);
    const input = withToken(command.input, operation.token, call?.idempotencyKey);
    const max = operations.attempts(operation.name);
    const invocationId = randomUUID();
    const work = (attempt: Attempt): Promise<unknown> => {
      const headers = { invocationId, number: attempt.number, max };
      const sent = attemptAt(command, input, headers, () => streams.add(attempt));
      return (client as unknown as Sender).send(sent, { abortSignal: attempt.signal });
    };
    return { guards: operations.of(operation), work };
  };
  return {
    dependency: operations.dependency,
    operation: (name) => operations.sent(name),
    send: async (command: unknown, call?: CallOptions) => {
      const { guards, work } = prepare(command as never, call);
      return guards(work, call) as never;
    },
    outcome: async (command: unknown, call?: CallOptions) => {
      const { guards, work } = prepare(command as never, call);
      return guards.outcome(work, call) as never;
    },
  };
}

/** The input with its token, if there is to be one: the input's own, else the call's key, else a new one. */
function withToken(input: object, token: string | null, key: string | undefined): object {
  if (token === null) {
    if (key === undefined) return input;
    throw new OptionError("call.idempotencyKey", key, "nothing: this command has no idempotency token");
  }
  const mine = field(input, token) ?? key ?? randomUUID();
  if (key !== undefined && mine !== key)
    throw new OptionError("call.idempotencyKey", key, `the command's own ${token}, or nothing`);
  return { ...input, [token]: mine };
}
