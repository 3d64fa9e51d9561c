/**
 * Retries within retries multiply: three layers of three attempts are 27. So what a guarded call has given up on is not
 * tried again by the call around it, unless that asks for it (`retry: { nested: "allow" }`).
 *
 * The work around it throws on the very error that it was thrown. Errors are the user's, often frozen, sometimes one
 * object used many times; so they are remembered beside, each with a number that grows: an error was given up *within*
 * an attempt if its number is higher than the highest was when the attempt began.
 * Sources: the SRE book, "Handling Overload"; the Basketly page, Part 3 (retry at one layer).
 */

const givenUp = new WeakMap<object, number>();
let last = 0;

/** How deep a chain of causes is followed: whoever wraps an error has not tried again either. */
const MAX_CAUSES = 10;

/** The number to remember when an attempt begins. */
export function giveUpsSoFar(): number {
  return last;
}

/** A guarded call fails with this, after its retry has said why it does not try again. */
export function giveUpOn(error: unknown): void {
  if (typeof error === "object" && error !== null) givenUp.set(error, ++last);
}

/** Whether a call that was made after `since` has given up on it, or on its cause. */
export function wasGivenUp(error: unknown, since: number): boolean {
  if (last === since) return false;
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof cause === "object" && cause !== null; depth++) {
    if ((givenUp.get(cause) ?? 0) > since) return true;
    cause = causeOf(cause);
  }
  return false;
}

/** What was thrown may be anything: a cause that cannot be read is none. */
function causeOf(error: object): unknown {
  try {
    return (error as { cause?: unknown }).cause;
  } catch {
    return undefined;
  }
}
