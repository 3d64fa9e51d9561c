/**
 * Everything that can be seen of a guarded call: one union, versioned, in plain data. Events are built only while
 * somebody listens, and reach the listener in order at the loop's safe points. The same events come out of
 * production and of the simulator; a replay's hash is that of its model's log, which does not change with who listens.
 */
import type { AttemptKind, Call } from "./call.ts";
import type { Ending } from "./evidence.ts";

/** The version of the event schema. The golden event logs begin with it. */
export const EVENTS_VERSION = 1;

/** What every event says. */
export interface EventBase {
  /** The runtime's monotonic ms. */
  readonly at: number;
  readonly dependency: string;
  /** Empty where an event concerns the whole dependency. */
  readonly operation: string;
  /** The call's number within the runtime; 0 where an event concerns no single call. */
  readonly call: number;
}

/** Something that happened to a call, an attempt or a guard. */
export type PlimsollEvent = EventBase &
  (
    | {
        readonly type: "attempt.queued";
        readonly attempt: number;
        readonly by: string;
        readonly waiting: number;
      }
    | {
        readonly type: "attempt.refused";
        readonly attempt: number;
        readonly by: string;
        readonly reason: string;
      }
    | {
        readonly type: "attempt.sent";
        readonly attempt: number;
        readonly kind: AttemptKind;
        /** How long it may take; null when nothing bounds it. */
        readonly limitMs: number | null;
      }
    | {
        readonly type: "attempt.answered";
        readonly attempt: number;
        readonly kind: AttemptKind;
        readonly ending: Ending;
        readonly durationMs: number;
      }
    /** Answered by something else than its own end: its work goes on and keeps its places. */
    | { readonly type: "attempt.abandoned"; readonly attempt: number }
    /** Abandoned work has ended at last, or its places were taken back from it. */
    | { readonly type: "attempt.ended"; readonly attempt: number; readonly reclaimed: boolean }
    | { readonly type: "retry.scheduled"; readonly attempt: number; readonly delayMs: number }
    | { readonly type: "retry.stopped"; readonly by: string; readonly reason: string }
    | { readonly type: "hedge.stopped"; readonly by: string; readonly reason: string }
    | { readonly type: "breaker.changed"; readonly from: BreakerStateName; readonly to: BreakerStateName }
    /** An observing breaker would have refused this call. */
    | { readonly type: "breaker.observed"; readonly attempt: number }
    /** "exercised": in place of a good answer, on purpose. */
    | { readonly type: "fallback.used"; readonly because: Ending | "exercised" }
    /** It waits for a call that others wait for, too: the attempts are told of that one, which has this number. */
    | { readonly type: "call.joined"; readonly flight: number }
    | {
        readonly type: "call.answered";
        readonly ending: Ending;
        /** Attempts of this call that were sent. */
        readonly sent: number;
        readonly durationMs: number;
      }
  );

/** The three states of a breaker. */
export type BreakerStateName = "closed" | "open" | "halfOpen";

/** What an event says of its own, without the common part. */
export type EventBody = PlimsollEvent extends infer E
  ? E extends EventBase
    ? Omit<E, keyof EventBase>
    : never
  : never;

/** An event of a call. */
export function callEvent(call: Call, at: number, body: EventBody): PlimsollEvent {
  const { dependency, operation, id } = call;
  return { at, dependency, operation, call: id, ...body } as PlimsollEvent;
}

/** An event of a guard that concerns no single call. */
export function guardEvent(
  dependency: string,
  operation: string,
  at: number,
  body: EventBody,
): PlimsollEvent {
  return { at, dependency, operation, call: 0, ...body } as PlimsollEvent;
}
