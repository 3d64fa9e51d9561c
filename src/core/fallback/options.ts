/** How a fallback is asked for, by kind: a function of one's own, the last good answer, or a fixed value. */
import type { Attempt } from "../attempt.ts";
import type { Failed, Outcome, Rejected } from "../call.ts";
import { OptionError } from "../errors.ts";
import { checkBoolean, checkFunction, checkKeys, checkMs, checkNumber, orDefault } from "../options.ts";
import { StaleAnswers } from "./stale.ts";

/** Makes the substitute answer. It sees what it replaces. */
export type FallbackFunction = (because: Failed | Rejected, attempt: Attempt) => unknown;

/** What all kinds of fallback take. */
export interface FallbackCommonOptions {
  /**
   * Time kept for it: the primary's deadline is this much earlier, in ms, 0 to 2^31 − 1. Default 0, right for a local
   * answer.
   */
  readonly reserveMs?: number;
  /** Its own limit in ms, 1 to 2^31 − 1. Default: `reserveMs`, or 100 without one (our choice). */
  readonly timeoutMs?: number;
  /**
   * Substitutes in flight at most, 1 to 1,000,000, whole, or Infinity; beyond that the failure stands. One that ignores
   * its limit in time keeps its place. Default Infinity, right for a local answer (the resilience notes, §08).
   */
  readonly limit?: number;
  /** Whether it also replaces permanent failures. Default false: a bad request is not an outage. */
  readonly permanent?: boolean;
  /**
   * The share of good answers that it replaces on purpose, 0 to 1, so that it has been tried before it is needed; a
   * substitute that fails then is reported, and the good answer stands. Default 0 (our choice).
   */
  readonly exercise?: number;
}

/** Options of `fallback`, where a function alone is not enough. */
export interface FallbackOptions extends FallbackCommonOptions {
  /** Makes the substitute, or a promise of one. It sees what it replaces. */
  readonly run: FallbackFunction;
}

/** Answers with the last whole answer to a call of the same tenant and key, if it is not too old. */
export interface StaleOptions extends FallbackCommonOptions {
  /** How old it may be, in ms, 1 to 2^31 − 1. No default: it is a promise to whoever reads it. */
  readonly maxAgeMs: number;
  /** Answers kept at most, one for each tenant and key; 2 to 10,000,000, whole. Default 1,000 (our choice). */
  readonly maxKeys?: number;
}

/** Answers with a fixed value. */
export interface DefaultFallback<V> extends FallbackCommonOptions {
  readonly kind: "default";
  readonly value: V;
}

/** What certainly did not run, and so may be done elsewhere: refused here, or failed without effect. */
export type NotExecuted = Rejected | (Failed & { readonly effect: "none" });

/** Sends what certainly did not run to another provider. It is not tried on purpose: what was done is not done again. */
export interface ElsewhereFallback<V> extends Omit<FallbackCommonOptions, "exercise"> {
  readonly kind: "elsewhere";
  send(because: NotExecuted, attempt: Attempt): V;
}

/** A fallback of a kind; make one with `stale`, `defaultValue` or `elsewhere`. */
export type FallbackSpec =
  | ({ readonly kind: "stale" } & StaleOptions)
  | DefaultFallback<unknown>
  | ElsewhereFallback<unknown>;

/** What the option `fallback` takes. To fail fast is to have none. */
export type FallbackOption = FallbackFunction | FallbackOptions | FallbackSpec;

/** The last good answer, bounded by age, keyed by tenant and key. A call that fails without one fails. */
export function stale(options: StaleOptions): FallbackSpec {
  return { kind: "stale", ...options };
}

/** Always the same value. */
export function defaultValue<V>(value: V, options: FallbackCommonOptions = {}): DefaultFallback<V> {
  return { kind: "default", value, ...options };
}

/**
 * Another provider, for writes: asked only when the first certainly did not run it. A write whose outcome is unknown is
 * never sent there, key or no key, since no two providers share their keys: the call fails with what happened.
 * Source: the resilience notes, §03.
 */
export function elsewhere<V>(
  send: (because: NotExecuted, attempt: Attempt) => V,
  options: Omit<FallbackCommonOptions, "exercise"> = {},
): ElsewhereFallback<V> {
  return { kind: "elsewhere", send, ...options };
}

/** Whether it certainly did not run, so that it may be done elsewhere. */
export function notExecuted(outcome: Outcome): outcome is NotExecuted {
  return outcome.kind === "rejected" || (outcome.kind === "failed" && outcome.effect === "none");
}

/** A checked option. */
export interface FallbackSettings {
  readonly run: FallbackFunction;
  readonly reserveMs: number;
  readonly timeoutMs: number;
  readonly limit: number;
  readonly permanent: boolean;
  readonly exercise: number;
  /** Whether it replaces only what certainly did not run. */
  readonly notExecutedOnly: boolean;
  /** The good answers that are kept, or null where none is. */
  readonly kept: StaleAnswers | null;
}

const COMMON = ["reserveMs", "timeoutMs", "limit", "permanent", "exercise"];

/** Checks the option. Throws an `OptionError` that names the field. */
export function fallbackSettings(option: FallbackOption, field: string): FallbackSettings {
  const options = typeof option === "function" ? { run: option } : option;
  const { run, kept } = substituteOf(options, field);
  const reserveMs = checkMs(`${field}.reserveMs`, orDefault(options.reserveMs, 0));
  return {
    run,
    kept,
    notExecutedOnly: "kind" in options && options.kind === "elsewhere",
    reserveMs,
    limit: checkNumber(`${field}.limit`, orDefault(options.limit, Infinity), {
      min: 1,
      max: 1_000_000,
      integer: true,
      orInfinity: true,
    }),
    permanent: checkBoolean(`${field}.permanent`, orDefault(options.permanent, false)),
    timeoutMs: checkMs(`${field}.timeoutMs`, orDefault(options.timeoutMs, reserveMs || 100), { min: 1 }),
    exercise: checkNumber(`${field}.exercise`, orDefault((options as FallbackCommonOptions).exercise, 0), {
      max: 1,
    }),
  };
}

function substituteOf(
  options: Exclude<FallbackOption, FallbackFunction>,
  field: string,
): { run: FallbackFunction; kept: StaleAnswers | null } {
  const kind = typeof options === "object" && options !== null && "kind" in options ? options.kind : null;
  if (kind === null) {
    checkKeys(field, options, ["run", ...COMMON]);
    return { run: checkFunction(`${field}.run`, (options as FallbackOptions).run), kept: null };
  }
  if (kind === "default") {
    checkKeys(field, options, ["kind", "value", ...COMMON]);
    const { value } = options as { value?: unknown };
    if (!("value" in options)) throw new OptionError(`${field}.value`, undefined, "a value");
    return { run: () => value, kept: null };
  }
  if (kind === "elsewhere") {
    checkKeys(field, options, ["kind", "send", ...COMMON.filter((key) => key !== "exercise")]);
    const { send } = options as ElsewhereFallback<unknown>;
    return { run: checkFunction(`${field}.send`, send) as FallbackFunction, kept: null };
  }
  if (kind !== "stale")
    throw new OptionError(`${field}.kind`, kind, '"stale", "default" or "elsewhere", or leave it out');
  checkKeys(field, options, ["kind", "maxAgeMs", "maxKeys", ...COMMON]);
  const kept = new StaleAnswers(options as StaleOptions, field);
  return { run: (_because, { call }) => kept.last(call), kept };
}
