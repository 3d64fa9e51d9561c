/** What a call may say about itself, checked, and what it takes over from the call or request that it is made for. */
import type { Attempt } from "../core/attempt.ts";
import type { CallFields, Criticality } from "../core/call.ts";
import { OptionError } from "../core/errors.ts";
import { checkFunction, checkKeys, checkNumber, checkOneOf } from "../core/options.ts";

/** What one call says about itself; all of it optional. */
export interface CallOptions {
  /** Cancels the call when it fires. */
  readonly signal?: AbortSignal | undefined;
  /**
   * When the answer is no longer wanted: absolute, in the runtime's monotonic ms (`performance.now()` on Node), 0 or
   * more.
   */
  readonly deadline?: number | undefined;
  /** The attempt in whose course this call is made: its deadline bounds this one, and its end cancels it. */
  readonly parent?: Attempt | undefined;
  /** How essential it is; told to the hosts that `createFetch` lists. */
  readonly criticality?: Criticality | undefined;
  /** Whose it is; told likewise. */
  readonly tenant?: string | undefined;
  /** What it is about: for coalescing, stale answers, and guards by key. Default: nothing in particular. */
  readonly key?: string | undefined;
  /** The same on every attempt; makes a write repeatable. */
  readonly idempotencyKey?: string | undefined;
  /** How much memory the call holds while it waits or runs, in bytes, 0 or more, rounded up. Default 0. */
  readonly bytes?: number | undefined;
}

const CRITICALITIES: readonly Criticality[] = ["criticalPlus", "critical", "sheddablePlus", "sheddable"];

/** Throws an `OptionError` for what is no work, or a wrong option. */
export function checkCall(work: unknown, options: CallOptions | undefined): void {
  checkFunction("work", work);
  if (options === undefined) return;
  checkKeys("call", options, CALL_KEYS);
  checkFields(options);
}

/** What is not of its type would be coerced: into no time at all, or into a key that makes a write repeatable. */
function checkFields(options: CallOptions): void {
  const { signal, parent, deadline, bytes, criticality, idempotencyKey } = options;
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw new OptionError("call.signal", signal, "an AbortSignal");
  if (parent !== undefined && typeof parent?.call !== "object")
    throw new OptionError("call.parent", parent, "an attempt");
  if (deadline !== undefined && !(typeof deadline === "number" && deadline >= 0)) {
    throw new OptionError(
      "call.deadline",
      deadline,
      "a point in time on the runtime's monotonic clock, in ms",
    );
  }
  if (bytes !== undefined) checkNumber("call.bytes", bytes, {});
  if (criticality !== undefined) checkOneOf("call.criticality", criticality, CRITICALITIES);
  checkText("call.tenant", options.tenant);
  checkText("call.key", options.key);
  checkText("call.idempotencyKey", idempotencyKey);
  if (idempotencyKey === "") throw new OptionError("call.idempotencyKey", "", "a text that is not empty");
}

function checkText(field: string, value: unknown): void {
  if (value !== undefined && typeof value !== "string") throw new OptionError(field, value, "a text");
}

const CALL_KEYS = ["signal", "deadline", "parent", "criticality", "tenant", "key", "idempotencyKey", "bytes"];

/** The fields of a call: its own, else those of the one that it is made for. */
export function fieldsOf(options: CallOptions | undefined, outer: CallFields): CallFields {
  return {
    criticality: options?.criticality ?? outer.criticality,
    tenant: options?.tenant ?? outer.tenant,
    key: options?.key ?? "",
    idempotencyKey: options?.idempotencyKey,
    // Whole: sums of fractions do not come back to zero, and what is left over would fill a bulkhead for ever.
    bytes: Math.ceil(options?.bytes ?? 0),
  };
}
