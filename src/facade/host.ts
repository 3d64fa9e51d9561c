/**
 * What the platform plugs in: a runtime to use by default, and what the async context says about the call in whose
 * course a call is made. Set once, when the package is loaded.
 */
import type { CallFields } from "../core/call.ts";
import type { Runtime } from "../core/runtime.ts";

/** What a request that is being served passes on to the calls made for it. */
export interface Ambient {
  readonly fields: CallFields;
  /** Absolute, in the runtime's ms. */
  readonly deadline: number;
  /** Fires when nobody waits for the request any more. */
  readonly signal: AbortSignal | undefined;
}

/** The platform's part. */
export interface Host {
  readonly runtime: Runtime;
  /**
   * What the wall clock said at the runtime's 0, in ms since 1970: for what should happen at the same time of the minute
   * after a restart, too. Left out where there is no wall clock: 0.
   */
  readonly startedAtMs?: number;
  /** The request in whose course the present code runs, if any. */
  ambient(): Ambient | undefined;
  /** Runs `fn`, and what it starts, in the course of no request. Left out where there is no async context. */
  outsideRequest?<T>(fn: () => T): T;
  /** Runs `fn` after what else is ready to run. Left out where there is nothing but timers. */
  nextTurn?(fn: () => void): void;
}

let present: Host | null = null;

/** Plugs the platform in. Called by the package's entry for that platform. */
export function plugHost(host: Host): void {
  present = host;
}

/** The request in whose course the present code runs, where a platform that knows has been plugged in. */
export function ambient(): Ambient | undefined {
  return present === null ? undefined : present.ambient();
}

/** The platform that was plugged in, or null. */
export function aHost(): Host | null {
  return present;
}

/** The platform that was plugged in. */
export function theHost(): Host {
  if (present === null)
    throw new Error("plimsoll has no runtime here: pass one to dependency(options, runtime)");
  return present;
}

/** Runs `fn`, and what it starts, in the course of no request. */
export function outsideRequest<T>(fn: () => T): T {
  return present?.outsideRequest === undefined ? fn() : present.outsideRequest(fn);
}
