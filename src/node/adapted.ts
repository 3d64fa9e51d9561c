/** Operations whose work is handed more than its attempt: a connection, a client. */
import { OptionError } from "../core/errors.ts";
import type { CallOptions } from "../facade/call-options.ts";
import type { Operation } from "../facade/dependency.ts";
import type { Work } from "../facade/perform.ts";

/** The same operation for work of another kind: `around` makes of it what the guards run. */
export function adapted<W>(guarded: Operation<unknown, true>, around: (work: W) => Work<unknown>): unknown {
  const taking =
    (begin: (work: Work<unknown>, about?: CallOptions) => Promise<unknown>) =>
    (work: W, about?: CallOptions): Promise<unknown> =>
      typeof work === "function"
        ? begin(around(work), about)
        : Promise.reject(new OptionError("work", work, "a function"));
  const call = taking(guarded);
  Object.defineProperty(call, "abandoned", { get: () => guarded.abandoned });
  const { breaker, breakers } = guarded;
  return Object.assign(call, { outcome: taking(guarded.outcome), breaker, breakers });
}
