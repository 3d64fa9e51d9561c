/**
 * One request on the wire: a caller's attempt on one side, a callee's call on the other. The network adds no delay.
 *
 * Both sides are calls of the same kernel. When the caller gives up, its own side ends (it closes its socket, so its
 * places are free), and if the edge carries cancels the callee's call is cancelled; if not, the callee works on for
 * nobody. A callee's failure, of whatever kind, is a 503 to its caller.
 */
import type { Attempt } from "../core/attempt.ts";
import type { Exit } from "../core/call.ts";
import { type ClassifiedError, FAILURE } from "../core/classify.ts";
import type { Answer, CallProcess } from "../core/process.ts";
import type { Link, Target } from "./link.ts";
import type { Served, Server } from "./server.ts";
import type { Action } from "./workload.ts";

/** What makes calls in the model: a user's action, or a request that a service is working on. */
export interface Origin {
  /** The user's action that all this is for. */
  readonly action: Action;
  /** The request that is being worked on; null at the user. */
  readonly exchange: Exchange | null;
  /** What it is calling now. */
  readonly target: Target;
}

/** The answer of a request that was served in full, or in part. */
export const WHOLE = 0;
/** See `WHOLE`. */
export const DEGRADED = 1;

/** A 503 that the caller may try again. */
export const RETRYABLE_503: ClassifiedError = Object.freeze({
  [FAILURE]: { class: "throttling", effect: "none" } as const,
});

/** A 503 that says "do not retry". */
export const FINAL_503: ClassifiedError = Object.freeze({
  [FAILURE]: { class: "throttling", effect: "none", pushback: "never" } as const,
});

/** With this the caller's side of a request ends after it was given up. Nobody judges it. */
const SOCKET_CLOSED: ClassifiedError = Object.freeze({
  [FAILURE]: { class: "transient", effect: "unknown" } as const,
});

/** A request and its reply. */
export class Exchange implements Answer {
  readonly link: Link;
  readonly server: Server;
  readonly action: Action;
  /** The request on whose behalf this one is made; null at the user. */
  readonly parent: Exchange | null;
  readonly sentAt: number;
  /** What the callee does for it. */
  served: Served | null = null;
  /** The callee's call. */
  callee: CallProcess | null = null;
  #caller: Attempt | null;

  constructor(link: Link, server: Server, origin: Origin, caller: Attempt) {
    this.link = link;
    this.server = server;
    this.action = origin.action;
    this.parent = origin.exchange;
    this.sentAt = caller.sentAt;
    this.#caller = caller;
    caller.onAbort((reason) => this.#gaveUp(reason));
  }

  /** Whether anybody still waits for the reply, all the way up to the user. */
  get wanted(): boolean {
    for (let at: Exchange | null = this; at !== null; at = at.parent) {
      if (at.#caller === null) return false;
    }
    return true;
  }

  /** The callee has answered: replies, if anybody listens. Nothing is said after a cancel. */
  answered(exit: Exit): void {
    if (this.server.waiting !== null) this.server.waiting.delete(this);
    const caller = this.#caller;
    if (caller === null || exit.kind === "cancelled") return;
    this.#caller = null;
    const ok = exit.kind === "ok";
    const { link } = this;
    link.tap.replied(this, ok, link.now() - this.sentAt);
    if (ok) caller.succeed(exit.value);
    else caller.fail(link.unavailable);
  }

  #gaveUp(reason: unknown): void {
    const caller = this.#caller;
    if (caller === null) return;
    this.#caller = null;
    const { link, callee } = this;
    link.tap.gaveUp(this, reason);
    if (link.carriesCancels && callee !== null) callee.cancel(reason);
    caller.fail(SOCKET_CLOSED);
  }
}
