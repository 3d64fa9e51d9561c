/**
 * One request on the wire: a caller's attempt on one side, a callee's call on the other. The network adds no delay.
 *
 * Both sides are calls of the same kernel. When the caller gives up, its own side ends (it closes its socket, so its
 * places are free), and if the edge carries cancels the callee's call is cancelled; if not, the callee works on for
 * nobody. When the callee's call ends before its work has (a cancel, or its deadline), the work is stopped. A
 * callee whose time is over, or that waited in vain for somebody else, says 504; one that was refused says 503.
 */
import type { AbortTarget } from "../core/abort.ts";
import type { Attempt } from "../core/attempt.ts";
import type { Exit } from "../core/call.ts";
import { type ClassifiedError, FAILURE } from "../core/classify.ts";
import type { Task } from "../core/loop.ts";
import type { Answer, CallProcess } from "../core/progress.ts";
import type { Handler } from "./handler.ts";
import type { Link, Target } from "./link.ts";
import type { Served } from "./server.ts";
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

/** What a callee answers: what was asked for, a 503, or a 504. */
export type Reply = "ok" | "unavailable" | "late";

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

/** A 504 that the caller may try again: whether anything was done is unknown. */
export const RETRYABLE_504: ClassifiedError = Object.freeze({
  [FAILURE]: { class: "transient", effect: "unknown" } as const,
});

/** A 504 that is not tried again. */
export const FINAL_504: ClassifiedError = Object.freeze({
  [FAILURE]: { class: "transient", effect: "unknown", pushback: "never" } as const,
});

/** With this the caller's side of a request ends after it was given up. Nobody judges it. */
const SOCKET_CLOSED: ClassifiedError = Object.freeze({
  [FAILURE]: { class: "transient", effect: "unknown" } as const,
});

/**
 * A request and its reply. In an outage hundreds of thousands of them wait for a place, so it holds no more than it
 * must.
 */
export class Exchange implements AbortTarget, Answer, Task {
  readonly context = null;
  readonly link: Link;
  /** What the callee does for it. */
  readonly served: Served;
  readonly action: Action;
  /** The request on whose behalf this one is made; null at the user. */
  readonly parent: Exchange | null;
  /** The callee's call. */
  callee: CallProcess | null = null;
  /** The work, once it has a place. */
  handler: Handler | null = null;
  private caller: Attempt | null;
  /** Why the caller gave up, until the callee has been told. */
  private because: Exit | null = null;

  constructor(link: Link, served: Served, origin: Origin, caller: Attempt) {
    this.link = link;
    this.served = served;
    this.action = origin.action;
    this.parent = origin.exchange;
    this.caller = caller;
    caller.abortTo(this);
  }

  /** Whether its caller no longer waits for it. */
  get givenUp(): boolean {
    return this.caller === null;
  }

  /** Whether anybody still waits for the reply, all the way up to the user. */
  get wanted(): boolean {
    for (let at: Exchange | null = this; at !== null; at = at.parent) {
      if (at.caller === null) return false;
    }
    return true;
  }

  /** The callee has begun: its caller may have tied others to this one. */
  started(): void {
    this.caller?.started();
  }

  /** The callee's call has ended: replies, if anybody listens. Nothing is said after a cancel. */
  answered(exit: Exit): void {
    const { server } = this.served;
    if (server.waiting !== null) server.waiting.delete(this);
    if (this.handler !== null) this.handler.stop(exit);
    const { caller, link } = this;
    if (caller === null || exit.kind === "cancelled") return;
    this.caller = null;
    const reply = replyOf(exit);
    link.tap.replied(this, reply, link.runtime.now() - caller.sentAt);
    if (exit.kind === "ok") caller.succeed(exit.value);
    else caller.fail(reply === "late" ? link.late : link.unavailable);
  }

  /** The caller's kernel gives it up: heard at the loop's next safe point. */
  fire(because: Exit): void {
    this.because = because;
    this.link.runtime.loop.push(this);
  }

  /** The caller has given up. Called by the loop. */
  run(): void {
    const { caller, link, callee, because } = this;
    if (caller === null || because === null) return;
    this.caller = null;
    this.because = null;
    link.tap.gaveUp(this, because);
    if (link.carriesCancels && callee !== null) callee.cancel(reasonOf(because));
    caller.fail(SOCKET_CLOSED);
  }
}

function replyOf(exit: Exit): Reply {
  if (exit.kind === "ok") return "ok";
  return isLate(exit) ? "late" : "unavailable";
}

/** With what the callee's call is cancelled: the reason of the caller's own cancel, or the exit it gave up for. */
function reasonOf(because: Exit): unknown {
  return because.kind === "cancelled" ? because.reason : because;
}

/** Whether a call failed because time was over, here or further down, rather than for being refused. */
export function isLate(exit: Exit): boolean {
  if (exit.kind === "failed") return exit.class !== "throttling";
  return exit.kind === "rejected" && exit.by === "deadline";
}
