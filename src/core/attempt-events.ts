/** What is told of an attempt while somebody listens. */
import type { Attempt } from "./attempt.ts";
import type { Exit } from "./call.ts";
import { callEvent, type EventBody } from "./events.ts";
import type { Ending } from "./evidence.ts";

/** It is on its way, for at most so long. */
export function tellSent(attempt: Attempt, limit: number): void {
  const limitMs = limit < Infinity ? limit : null;
  tell(attempt, { type: "attempt.sent", attempt: attempt.number, kind: attempt.kind, limitMs });
}

/** It was answered, or refused before it was sent. */
export function tellAnswered(attempt: Attempt, exit: Exit, ending: Ending, sent: boolean): void {
  const { number, kind, runtime, sentAt } = attempt;
  if (sent) {
    const durationMs = runtime.now() - sentAt;
    tell(attempt, { type: "attempt.answered", attempt: number, kind, ending, durationMs });
  } else if (exit.kind === "rejected") {
    tell(attempt, { type: "attempt.refused", attempt: number, by: exit.by, reason: exit.reason });
  }
}

/** Its work goes on although it was answered by something else. */
export function tellAbandoned(attempt: Attempt): void {
  tell(attempt, { type: "attempt.abandoned", attempt: attempt.number });
}

/** Abandoned work has ended, or its places were taken back from it. */
export function tellEnded(attempt: Attempt, reclaimed: boolean): void {
  tell(attempt, { type: "attempt.ended", attempt: attempt.number, reclaimed });
}

function tell({ call, runtime }: Attempt, body: EventBody): void {
  if (runtime.sink !== null) runtime.emit(callEvent(call, runtime.now(), body));
}
