/** Starts work that returns a promise (or a plain value) and reports how it ended. */
import type { Attempt } from "../core/attempt.ts";
import { giveUpsSoFar, wasGivenUp } from "./nested-retries.ts";

/** What a guard runs: your function. It gets the attempt, whose `signal` and `timeLeftMs` it should honour. */
export type Work<T> = (attempt: Attempt) => T | PromiseLike<T>;

/** Runs `work` once for this attempt. */
export function performPromise(attempt: Attempt, work: unknown): void {
  const giveUps = giveUpsSoFar();
  const result = (work as Work<unknown>)(attempt);
  if (isThenable(result)) {
    // A promise stays as it is; any other thenable may call back twice, throw, or give another one.
    // Bound functions, not closures: a closure is compiled lazily, each anew, at its first and only call.
    Promise.resolve(result).then(attempt.succeed.bind(attempt), failSince.bind(null, attempt, giveUps));
  } else attempt.succeed(result);
}

/** The work has thrown: perhaps what a call within it has given up on. */
function failSince(attempt: Attempt, giveUps: number, error: unknown): void {
  attempt.fail(error, wasGivenUp(error, giveUps));
}

/** Whether `await` would wait for this value. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    typeof (value as { then?: unknown }).then === "function"
  );
}
