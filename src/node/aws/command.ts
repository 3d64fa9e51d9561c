/**
 * What is read of a command of the AWS SDK, and what is changed about it for one attempt.
 *
 * A command carries the schema of its operation: its name, whether the service's model calls it idempotent, and which
 * field of its input is an idempotency token, if one is. The SDK fills such a token in when it serializes, so a command
 * that is sent twice would be two different writes: here it is filled in once for each call.
 *
 * Each attempt is a copy of the command in whose stack the SDK's retry loop is replaced, under its own name, by a
 * middleware that goes through it once. The user's command and client stay as they are.
 *
 * Sources: Smithy's traits `idempotent`, `readonly`, `http` and `idempotencyToken`; @smithy/core 3.41 (`retryMiddleware`;
 * traits as bits or by name).
 */
import { OptionError } from "../../core/errors.ts";

/** A command of a client whose resolved config is a `Config`; `Output` is what it gives. */
export interface AwsCommand<Config, Output> {
  readonly input: object;
  readonly middlewareStack: AwsMiddlewareStack;
  readonly resolveMiddleware: (
    stack: never,
    config: Config,
    options: never,
  ) => (command: never) => Promise<{ readonly output: Output }>;
}

/** What is used of a command's stack of middleware. */
export interface AwsMiddlewareStack {
  clone(): AwsMiddlewareStack;
  add(middleware: never, options: never): void;
}

/** What a command's schema says about its operation. */
export interface AwsOperation {
  /** As the service calls it: `GetItem`. */
  readonly name: string;
  /** Whether the model says that repeating it has the same effect as doing it once, or it carries a token. */
  readonly idempotent: boolean;
  /** The field of its input that is an idempotency token, or null. */
  readonly token: string | null;
}

/** What one attempt at a command needs. */
export interface AttemptHeaders {
  /** The same for all attempts of a call. */
  readonly invocationId: string;
  /** Which attempt it is, from 1, and how many there may be. */
  readonly number: number;
  readonly max: number;
}

type AnyCommand = AwsCommand<never, unknown>;

/** A schema of an operation: [9, namespace, name, traits, input, output]. */
type OperationSchema = readonly [9, string, string, unknown, unknown];
/** A schema of a structure: [3, namespace, name, traits, names of its members, their schemas]. */
type StructureSchema = readonly [3, string, string, unknown, readonly string[], readonly unknown[]];

/** Traits that are packed into a number, by bit; others stand under their names in an object. */
const BITS = { idempotent: 2, idempotencyToken: 4 } as const;

/** RFC 9110 §9.2.2: what Smithy lets stand for a `readonly` or `idempotent` operation only. */
const IDEMPOTENT_METHODS: readonly unknown[] = ["GET", "HEAD", "PUT", "DELETE"];

/** Reads the schema. Throws an `OptionError` for what is no command, or one of an SDK that had no schemas yet. */
export function operationOf(command: AnyCommand): AwsOperation {
  const schema = (inner(command) as Partial<{ schema: OperationSchema }> | undefined)?.schema;
  if (!Array.isArray(schema) || schema[0] !== 9 || typeof command.middlewareStack?.clone !== "function")
    throw new OptionError("command", command, "a command of the AWS SDK for JavaScript v3 that has a schema");
  const [, , name, traits, input] = schema as OperationSchema;
  const token = tokenIn(input);
  const method = (traits as { http?: readonly unknown[] }).http?.[0];
  const idempotent = has(traits, "idempotent") || IDEMPOTENT_METHODS.includes(method) || token !== null;
  return { name, idempotent, token };
}

/** The command as one attempt sends it, with `input` in place of its own; `onStream` hears that its body is a stream. */
export function attemptAt<C extends AnyCommand>(
  command: C,
  input: object,
  headers: AttemptHeaders,
  onStream: () => void,
): C {
  const middlewareStack = inner(command).middlewareStack.clone();
  middlewareStack.add(once(headers, onStream) as never, IN_PLACE_OF_RETRIES as never);
  const own = { input, middlewareStack };
  const sent = copy(inner(command), own);
  // A command of the document client wraps one of DynamoDB's, and works on its stack.
  return (inner(command) === command ? sent : copy(command, { ...own, clientCommand: sent })) as C;
}

/** Of the same class, with other fields; they are enumerable, because the SDK's middleware spreads its arguments. */
function copy(command: AnyCommand, fields: object): AnyCommand {
  return Object.assign(Object.create(Object.getPrototypeOf(command)), command, fields);
}

function inner(command: AnyCommand): AnyCommand {
  return (command as { clientCommand?: AnyCommand })?.clientCommand ?? command;
}

function tokenIn(input: unknown): string | null {
  const structure = (typeof input === "function" ? input() : input) as StructureSchema;
  if (!Array.isArray(structure)) return null;
  const [, , , , names = [], members = []] = structure as StructureSchema;
  const at = members.findIndex((member) => Array.isArray(member) && has(member[1], "idempotencyToken"));
  return names[at] ?? null;
}

function has(traits: unknown, name: keyof typeof BITS): boolean {
  if (typeof traits === "number") return (traits & BITS[name]) !== 0;
  return typeof traits === "object" && traits !== null && name in traits;
}

const IN_PLACE_OF_RETRIES = {
  name: "retryMiddleware",
  tags: ["RETRY"],
  step: "finalizeRequest",
  priority: "high",
  override: true,
};

interface Arguments {
  readonly request?: { readonly headers?: Record<string, string>; readonly body?: unknown };
}
type Next = (args: Arguments) => Promise<{ readonly output: { $metadata?: { attempts?: number } } }>;

/** Sends once, with the headers that the SDK's own loop would set. */
function once({ invocationId, number, max }: AttemptHeaders, onStream: () => void): (next: Next) => Next {
  return (next) => async (args) => {
    const { headers, body } = args.request ?? {};
    if (headers !== undefined) {
      headers["amz-sdk-invocation-id"] = invocationId;
      headers["amz-sdk-request"] = `attempt=${number}; max=${max}`;
    }
    if (isStream(body)) onStream();
    const result = await next(args);
    if (result.output.$metadata !== undefined) result.output.$metadata.attempts = number;
    return result;
  };
}

/** What can be read once. */
function isStream(body: unknown): boolean {
  const { pipe, getReader } = Object(body) as { pipe?: unknown; getReader?: unknown };
  return typeof pipe === "function" || typeof getReader === "function";
}
