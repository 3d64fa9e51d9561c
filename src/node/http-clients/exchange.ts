/**
 * One request of an HTTP client as a guarded call.
 *
 * Who uses a client expects a reply and not an error of ours, whatever its status. So a bad reply is an error only among
 * the guards, which judge it; if they do not try again, it is given as it came, and the client makes of it what it
 * always does. If they do, it is discarded, so that its connection can be used again.
 */
import type { Attempt } from "../../core/attempt.ts";
import { FAILURE } from "../../core/classify.ts";
import { RefusedError } from "../../core/errors.ts";
import { Leaving } from "./leaving.ts";
import { meaningOf, neverTwice, type ReplyHead, unrepeatable } from "./meaning.ts";
import type { Methods } from "./methods.ts";

/** A request, and how its client sends it. */
export interface Sending<R extends ReplyHead> {
  readonly method: string;
  /** Whatever of these fires first, the caller has left. */
  readonly signals: readonly (AbortSignal | null | undefined)[];
  /** Makes a POST repeatable; empty like undefined. */
  readonly idempotencyKey: string | null | undefined;
  /** Whether its body can be sent more than once. */
  readonly repeatable: boolean;
  /** Sends it once, and gives the reply, whatever its status. */
  send(attempt: Attempt, headers: Record<string, string>): Promise<R>;
  /** Nobody wants this reply. */
  discard(reply: R, attempt: Attempt): void;
}

/** A reply that counts as a failure, among the guards. */
class BadReply<R extends ReplyHead> extends Error {
  readonly reply: R;
  readonly attempt: Attempt;

  constructor(reply: R, attempt: Attempt, repeatable: boolean) {
    super(`${reply.status}`);
    this.reply = reply;
    this.attempt = attempt;
    Object.defineProperty(this, FAILURE, { value: meaningOf(reply, attempt, repeatable) });
  }
}

/** Makes the request under the guards of its method. Rejects with a refusal, a timeout, or the client's own error. */
export async function exchange<R extends ReplyHead>(methods: Methods, sending: Sending<R>): Promise<R> {
  const { idempotencyKey, repeatable } = sending;
  const leaving = new Leaving(sending.signals);
  const { signal } = leaving;
  const method = sending.method.toUpperCase();
  const held = new Set<BadReply<R>>();
  const discardHeld = (): void => {
    for (const { reply, attempt } of held) sending.discard(reply, attempt);
    held.clear();
  };
  const about = { signal, ...(idempotencyKey ? { idempotencyKey } : {}) };
  try {
    const outcome = await methods.of(method).outcome(async (attempt) => {
      if (attempt.kind === "hedge" && !repeatable) throw neverTwice(attempt);
      if (attempt.kind !== "hedge") discardHeld();
      const reply = await sending.send(attempt, methods.headersOf(attempt)).catch((error) => {
        throw unrepeatable(error, repeatable);
      });
      if (attempt.state !== "sent") sending.discard(reply, attempt); // nobody hears of it
      if (reply.status < 400) return reply;
      const bad = new BadReply(reply, attempt, repeatable);
      if (attempt.state === "sent") held.add(bad);
      throw bad;
    }, about);
    if (outcome.kind === "ok") return outcome.value;
    if (outcome.kind === "rejected") throw new RefusedError(methods.name, method, outcome);
    if (!(outcome.error instanceof BadReply)) throw outcome.error;
    held.delete(outcome.error);
    return outcome.error.reply;
  } finally {
    leaving.end();
    discardHeld();
  }
}
