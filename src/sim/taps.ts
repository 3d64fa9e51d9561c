/**
 * Where a scenario listens to the model. Every method does nothing here; a scenario overrides what it counts.
 * Taps hear facts of the model (a request was sent, a reply came, work ended), not decisions of guards: those are
 * in the exits of calls, and in the core's own events for whoever asks for them.
 */
import type { Attempt } from "../core/attempt.ts";
import type { Exit } from "../core/call.ts";
import type { Exchange, Reply } from "./exchange.ts";

/** Hears one edge: what callers send and how it ends for them. */
export class LinkTap {
  /** An attempt is on its way. */
  sent(_exchange: Exchange, _attempt: number): void {}
  /** Its reply has arrived in time, after `tookMs`. */
  replied(_exchange: Exchange, _reply: Reply, _tookMs: number): void {}
  /** The caller no longer waits for it. */
  gaveUp(_exchange: Exchange, _because: Exit): void {}
  /** A whole call, with all its attempts, has ended. */
  ended(_exit: Exit): void {}
}

/** Hears one service: requests that get a place, and what becomes of them. */
export class ServerTap {
  /** A place was given, and the work starts, as this attempt of the callee's own call. */
  started(_exchange: Exchange, _attempt: Attempt): void {}
  /** The work is done, or one of its calls has failed. */
  finished(_exchange: Exchange, _ok: boolean): void {}
  /** The work was given up before it was done. */
  stopped(_exchange: Exchange): void {}
}
