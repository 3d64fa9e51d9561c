/**
 * A gRPC service config, as options of a dependency and its operations: what the owner of a service publishes about
 * timeouts, retries, hedges and their throttle, kept by the library's own guards.
 *
 * A policy is a list of statuses after which the owner wants a repeat. So each method gets a judge: a listed status may
 * be repeated, whatever it is, and every other is final. A config that breaks a rule of A6 is refused as a whole, as a
 * gRPC client does. What only the client library can see stays with it: buffers and commitment, transparent retries.
 *
 * Sources: gRPC proposal A6 (policies, validation, at most 5 attempts); grpc/grpc `doc/service_config.md` (names).
 */
import { grpcBackoff } from "../backoff/machine.ts";
import { type BudgetSpec, budgetOf, type GrpcThrottleOptions, grpcThrottle } from "../budget/presets.ts";
import { grpcMeaning, judgeGrpc } from "../classifiers/grpc.ts";
import { field as fieldOf, judgeBy } from "../classifiers/meaning.ts";
import { OptionError } from "../errors.ts";
import type { Judge } from "../leaf.ts";
import { checkNumber, checkObject } from "../options.ts";
import type { OperationOptions } from "../policy-options.ts";
import { MAX_TIMER_MS } from "../runtime.ts";

/** What a service config says about one method. */
export type GrpcMethodOptions = OperationOptions & { readonly classify: Judge };

/** A service config as options. */
export interface GrpcServiceGuards {
  /** For `dependency()`: the config's `retryThrottling`; "none" where it has none. */
  readonly budget: BudgetSpec | "none";
  /** For `operation()`: what stands under the method's name, else under its service's, else under the empty name. */
  operation(service: string, method: string): GrpcMethodOptions;
}

/** As `JSON.parse` gives it. */
type Json = Readonly<Record<string, unknown>>;

const ROOT = "serviceConfig";

/** A6: higher values count as this. */
const MOST_ATTEMPTS = 5;

/** `google.rpc.Code`, by number. */
const CODES: readonly string[] =
  "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(
    " ",
  );

const PLAIN: GrpcMethodOptions = Object.freeze({ classify: judgeGrpc });

/**
 * Reads a service config, as `JSON.parse` gives it; fields that are not about time, retries and hedges are left to the
 * client library. Switch that one's own retries off (`grpc.enable_retries: 0`). A method with a policy counts as
 * idempotent: its owner has said after which statuses it may be repeated. Throws an `OptionError` that names the field.
 */
export function grpcServiceConfig(config: unknown): GrpcServiceGuards {
  checkObject(ROOT, config);
  const { methodConfig, retryThrottling } = config as Json;
  const methods = new Map<string, GrpcMethodOptions>();
  for (const [index, entry] of arrayIn(`${ROOT}.methodConfig`, methodConfig).entries()) {
    const at = `${ROOT}.methodConfig[${index}]`;
    checkObject(at, entry);
    const options = methodOptions(at, entry as Json);
    for (const [place, name] of arrayIn(`${at}.name`, (entry as Json).name).entries()) {
      const key = keyOf(`${at}.name[${place}]`, name);
      if (methods.has(key))
        throw new OptionError(`${at}.name[${place}]`, key, "a name that stands only once");
      methods.set(key, options);
    }
  }
  return {
    budget: retryThrottling == null ? "none" : throttleOf(`${ROOT}.retryThrottling`, retryThrottling),
    operation: (service, method) =>
      methods.get(`${service}/${method}`) ?? methods.get(`${service}/`) ?? methods.get("/") ?? PLAIN,
  };
}

/** `grpc-previous-rpc-attempts` of an attempt: how many went before it; undefined for the first, which has no such header. */
export function grpcPreviousAttempts({ number }: { readonly number: number }): string | undefined {
  return number > 1 ? String(number - 1) : undefined;
}

function methodOptions(at: string, { timeout, retryPolicy, hedgingPolicy }: Json): GrpcMethodOptions {
  if (retryPolicy != null && hedgingPolicy != null)
    throw new OptionError(`${at}.hedgingPolicy`, hedgingPolicy, "nothing beside a retryPolicy");
  const whole = timeout == null ? {} : { totalTimeoutMs: Math.max(1, durationIn(`${at}.timeout`, timeout)) };
  if (retryPolicy != null) return { ...whole, ...retryOptions(`${at}.retryPolicy`, retryPolicy) };
  if (hedgingPolicy != null) return { ...whole, ...hedgeOptions(`${at}.hedgingPolicy`, hedgingPolicy) };
  return { ...whole, ...PLAIN };
}

function retryOptions(at: string, policy: unknown): GrpcMethodOptions {
  checkObject(at, policy);
  const { maxAttempts, initialBackoff, maxBackoff, backoffMultiplier, retryableStatusCodes } = policy as Json;
  const attempts = attemptsOf(at, maxAttempts);
  const firstMs = durationIn(`${at}.initialBackoff`, initialBackoff);
  const maxBackoffMs = durationIn(`${at}.maxBackoff`, maxBackoff);
  const multiplier = checkNumber(`${at}.backoffMultiplier`, backoffMultiplier, { above: 0 });
  const codes = codesIn(`${at}.retryableStatusCodes`, retryableStatusCodes);
  if (codes.size === 0)
    throw new OptionError(`${at}.retryableStatusCodes`, retryableStatusCodes, "at least one status");
  const backoff = grpcBackoff({
    initialBackoffMs: Math.min(firstMs, maxBackoffMs),
    maxBackoffMs,
    backoffMultiplier: Math.min(multiplier, 1_000),
  });
  return { idempotent: true, retry: { attempts, backoff }, classify: judgeOf(codes) };
}

function hedgeOptions(at: string, policy: unknown): GrpcMethodOptions {
  checkObject(at, policy);
  const { maxAttempts, hedgingDelay, nonFatalStatusCodes } = policy as Json;
  const attempts = attemptsOf(at, maxAttempts);
  const delayMs = hedgingDelay == null ? 0 : durationIn(`${at}.hedgingDelay`, hedgingDelay, true);
  const codes = codesIn(`${at}.nonFatalStatusCodes`, nonFatalStatusCodes);
  // Quiet after throttling is the library's own idea: gRPC has its throttle for that.
  const hedge = { attempts, delayMs, onFailure: "next", quietMs: 0 } as const;
  return { idempotent: true, hedge, classify: judgeOf(codes) };
}

/** A judge for whom the listed statuses may be repeated and all others are final. */
function judgeOf(codes: ReadonlySet<number>): Judge {
  return judgeBy((error) => {
    const meaning = grpcMeaning(error);
    if (meaning === undefined) return undefined;
    if (!codes.has(fieldOf(error, "code") as number)) return { ...meaning, class: "permanent" };
    return meaning.class === "permanent" ? { ...meaning, class: "transient" } : meaning;
  });
}

function throttleOf(at: string, throttling: unknown): BudgetSpec {
  checkObject(at, throttling);
  const { maxTokens, tokenRatio } = throttling as Json;
  const ratio = checkNumber(`${at}.tokenRatio`, tokenRatio, { above: 0 });
  const spec = grpcThrottle({ maxTokens, tokenRatio: Math.min(ratio, 1_000) } as GrpcThrottleOptions);
  budgetOf(spec, at);
  return spec;
}

function attemptsOf(at: string, maxAttempts: unknown): number {
  return Math.min(MOST_ATTEMPTS, checkNumber(`${at}.maxAttempts`, maxAttempts, { min: 2, integer: true }));
}

/** A duration in ms, the longest timer at most: proto3 JSON has seconds in decimals, with at most nine after the point. */
function durationIn(at: string, value: unknown, orZero = false): number {
  const isDuration = typeof value === "string" && /^(?:0|[1-9][0-9]*)(?:\.[0-9]{1,9})?s$/.test(value);
  const ms = isDuration ? 1_000 * Number(value.slice(0, -1)) : Number.NaN;
  if (ms > 0 || (orZero && ms === 0)) return Math.min(ms, MAX_TIMER_MS);
  throw new OptionError(at, value, `a duration like "0.1s"${orZero ? "" : ", above 0"}`);
}

function codesIn(at: string, codes: unknown): Set<number> {
  const numbers = arrayIn(at, codes).map((code) => {
    const number = typeof code === "string" ? CODES.indexOf(code.toUpperCase()) : code;
    if (typeof number === "number" && Number.isInteger(number) && CODES[number] !== undefined) return number;
    throw new OptionError(at, code, "statuses of gRPC: 0 to 16, or their names");
  });
  return new Set(numbers);
}

/** Where a name's options are kept. Without a method it stands for the whole service, without both for all. */
function keyOf(at: string, name: unknown): string {
  checkObject(at, name);
  const service = textIn(`${at}.service`, (name as Json).service);
  const method = textIn(`${at}.method`, (name as Json).method);
  if (service === "" && method !== "")
    throw new OptionError(`${at}.method`, method, "nothing without a service");
  return `${service}/${method}`;
}

function textIn(at: string, text: unknown): string {
  if (text == null) return "";
  if (typeof text === "string") return text;
  throw new OptionError(at, text, "a text");
}

function arrayIn(at: string, array: unknown): readonly unknown[] {
  if (array == null) return [];
  if (Array.isArray(array)) return array;
  throw new OptionError(at, array, "an array");
}
