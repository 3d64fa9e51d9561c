/** Work that answers from a script, on the clock of whoever calls it, and remembers every attempt. */
import type { Attempt } from "../../core/attempt.ts";
import type { AttemptKind } from "../../core/call.ts";
import { OptionError } from "../../core/errors.ts";
import { checkKeys, checkMs } from "../../core/options.ts";
import { pause } from "./pause.ts";

/** What one attempt comes to. */
export type Step<T> = {
  /** How long it takes, in ms, 0 to 2^31 − 1. Left out: it answers synchronously, with no promise at all. */
  readonly afterMs?: number;
  /** Whether it goes on when it was given up. Default false: it ends at once, with the signal's reason. */
  readonly ignoresSignal?: boolean;
} & (
  | { /** What it gives. */ readonly value: T }
  | { /** What it throws. */ readonly error: unknown }
  | { /** It never ends by itself. */ readonly hangs: true }
);

/** An attempt that was made, to assert on. */
export interface ScriptedAttempt {
  /** Which attempt of its call it was, from 1; a hedge has the number of the attempt beside which it was sent. */
  readonly number: number;
  /** Why it was made. */
  readonly kind: AttemptKind;
  /** When it began, in the runtime's ms. */
  readonly at: number;
  /** When it would have been given up; `Infinity` for never. */
  readonly deadline: number;
  /** The call's key; empty without one. */
  readonly key: string;
  /** The call's idempotency key. */
  readonly idempotencyKey: string | undefined;
  /** When it ended; null while it runs. */
  readonly endedAt: number | null;
}

/** Scripted work: pass it to an operation, or await it inside a work of your own. */
export interface Scripted<T> {
  (attempt: Attempt): T | Promise<T>;
  /** Every attempt so far, in order. */
  readonly attempts: readonly ScriptedAttempt[];
}

/** Work whose n-th attempt does what the n-th step says; the last step says it for all that follow. */
export function scripted<T>(steps: readonly Step<T>[]): Scripted<T> {
  if (!Array.isArray(steps) || steps.length === 0)
    throw new OptionError("scripted.steps", steps, "a list of at least one step");
  for (const [at, step] of steps.entries()) checkStep(`scripted.steps[${at}]`, step);
  const attempts: ScriptedAttempt[] = [];
  const work = (attempt: Attempt): T | Promise<T> => {
    const step = steps[Math.min(attempts.length, steps.length - 1)] as Step<T>;
    const { number, kind, deadline, runtime, call } = attempt;
    const { key, idempotencyKey } = call;
    const record = { number, kind, at: runtime.now(), deadline, key, idempotencyKey, endedAt: null };
    attempts.push(record);
    const ended = (): void => void Object.assign(record, { endedAt: runtime.now() });
    if (step.afterMs !== undefined || "hangs" in step) return later(step, attempt).finally(ended);
    ended();
    return resultOf(step);
  };
  return Object.assign(work, { attempts });
}

async function later<T>(step: Step<T>, { runtime, signal }: Attempt): Promise<T> {
  const ms = "hangs" in step ? Infinity : (step.afterMs ?? 0);
  await pause(runtime, ms, step.ignoresSignal === true ? undefined : signal);
  return resultOf(step);
}

function resultOf<T>(step: Step<T>): T {
  if ("error" in step) throw step.error;
  return (step as { readonly value: T }).value;
}

function checkStep(field: string, step: unknown): void {
  checkKeys(field, step, ["value", "error", "hangs", "afterMs", "ignoresSignal"]);
  const { afterMs, ignoresSignal, hangs, ...result } = step as Record<string, unknown>;
  const ends = Object.keys(result).length + (hangs === undefined ? 0 : 1);
  if (ends !== 1) throw new OptionError(field, step, "one of `value`, `error` and `hangs`");
  if (hangs !== undefined && hangs !== true) throw new OptionError(`${field}.hangs`, hangs, "true");
  if (afterMs !== undefined) checkMs(`${field}.afterMs`, afterMs);
  if (ignoresSignal !== undefined && typeof ignoresSignal !== "boolean")
    throw new OptionError(`${field}.ignoresSignal`, ignoresSignal, "true or false");
}
