/** The options of every `guard` of an HTTP client, and the operations that it makes: one for each method. */
import type { Attempt } from "../../core/attempt.ts";
import { OptionError } from "../../core/errors.ts";
import { checkMs, checkObject, checkOneOf, orDefault } from "../../core/options.ts";
import type { DependencyOptions, OperationOptions } from "../../core/policy-options.ts";
import type { Runtime } from "../../core/runtime.ts";
import { dependency, type Operation } from "../../facade/dependency.ts";
import { plugNode } from "../host.ts";
import { encodeTimeLeft, type TimeLeftHeader } from "../wire/deadline-header.ts";
import { ATTEMPT_COUNT } from "../wire/headers.ts";

/** Options of `guard`. */
export interface HttpClientOptions extends DependencyOptions {
  /**
   * How requests are guarded: each method has guards of its own, made from these. Whether a method is idempotent follows
   * from HTTP; a fallback and a classifier have no place here, where a reply is passed on as it is, nor has coalescing:
   * a reply can be read once.
   */
  readonly operation?: Omit<
    OperationOptions,
    "idempotent" | "fallback" | "classify" | "decides" | "coalesce"
  >;
  /** Taken off the time left before it is sent along, in ms, 0 to 2^31 − 1. Default 1 (our choice). */
  readonly marginMs?: number;
  /** How the time left is told to the server; "none" for servers that must not be told. Default Envoy's header. */
  readonly deadlineHeader?: "x-envoy-expected-rq-timeout-ms" | "none";
}

const NOT_HERE = ["idempotent", "fallback", "classify", "decides", "coalesce"];

const TIME_LEFT: TimeLeftHeader = "x-envoy-expected-rq-timeout-ms";

/** RFC 9110 §9.2.2, and QUERY. */
const IDEMPOTENT: readonly string[] = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"];
const OTHERS: readonly string[] = ["POST", "PATCH"];

/** Refuses what is no instance of a client; `maker` is its method that makes another one. */
export function checkInstance(instance: unknown, maker: "create" | "extend", allowed: string): void {
  if (typeof (instance as Record<string, unknown> | null)?.[maker] !== "function")
    throw new OptionError("guard.instance", instance, allowed);
}

/** Checked options, and operations by method. */
export class Methods {
  private readonly marginMs: number;
  private readonly tellsTime: boolean;
  readonly name: string;
  private readonly operations: Map<string, Operation<never, true>> = new Map();

  constructor(options: HttpClientOptions, runtime: Runtime | undefined) {
    plugNode();
    const { operation = {}, marginMs, deadlineHeader, ...shared } = options;
    this.marginMs = checkMs("guard.marginMs", orDefault(marginMs, 1));
    const header = orDefault(deadlineHeader, TIME_LEFT);
    this.tellsTime = checkOneOf("guard.deadlineHeader", header, [TIME_LEFT, "none"]) !== "none";
    checkObject("guard.operation", operation);
    for (const field of NOT_HERE) {
      if (field in operation)
        throw new OptionError(`guard.operation.${field}`, (operation as never)[field], "nothing here");
    }
    const guarded = runtime === undefined ? dependency(shared) : dependency(shared, runtime);
    this.name = guarded.name;
    for (const method of [...IDEMPOTENT, ...OTHERS, "OTHER"]) {
      const idempotent = IDEMPOTENT.includes(method);
      // A hedge would send a write twice.
      const { hedge, ...writes } = operation;
      const settings: OperationOptions = idempotent ? { ...operation, idempotent } : writes;
      const classified = { ...settings, classify: () => undefined };
      this.operations.set(method, guarded.operation(method, classified));
    }
  }

  /** What is sent along with an attempt: its number and, if it is bounded, the time that it has left. */
  headersOf(attempt: Attempt): Record<string, string> {
    const headers: Record<string, string> = { [ATTEMPT_COUNT]: String(attempt.number) };
    const left = attempt.timeLeftMs - this.marginMs;
    const told = this.tellsTime && left > 0 ? encodeTimeLeft(TIME_LEFT, left) : undefined;
    if (told !== undefined) headers[TIME_LEFT] = told;
    return headers;
  }

  /** The guards of a method, in capitals. */
  of(method: string): Operation<never, true> {
    return this.operations.get(method) ?? (this.operations.get("OTHER") as Operation<never, true>);
  }
}
