/**
 * What is measured by `npm run bench -- call`: the same work under each library's guards.
 *
 * A case is a function that makes one call and returns its promise, and a check that the guards were in the state
 * in which they should be: a breaker that has opened on the way would make its success look free.
 */

/** What a call is, for the table; `each`: a success under one of the guards that not every call needs. */
export type Kind = "success" | "each" | "touched" | "refusal" | "thrown" | "failure";

/** One thing to measure. */
export interface Case {
  readonly subject: string;
  readonly kind: Kind;
  readonly guards: string;
  prepare(): Promise<Prepared> | Prepared;
}

/** A case that is ready to run. */
export interface Prepared {
  call(): Promise<unknown>;
  /** Throws if the guards are not as they should be. Called before and after the measurement. */
  check(): void;
}

const failure = new Error("the dependency failed");

export const work = async (): Promise<number> => 1;
export const failing = async (): Promise<number> => {
  throw failure;
};
export const touching = async ({ signal }: { signal: AbortSignal }): Promise<number> =>
  signal === undefined ? 0 : 1;
export const never = (): Promise<never> => new Promise(() => {});

/** Holds a benchmark to what it says that it measures. */
export function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(`this benchmark is not what it says: ${what}`);
}

/** Awaits a rejection as its users do. */
export async function caught(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    return error;
  }
}

/** What everything is compared with. */
export const BARE = {
  call: work,
  failure: () => caught(failing()),
};
