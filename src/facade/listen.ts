/** Watching guarded calls: every event of the process, to any number of listeners. */
import { checkFunction } from "../core/options.ts";
import type { EventSink, Runtime } from "../core/runtime.ts";
import { theHost } from "./host.ts";

/**
 * Lets `listener` hear every event of every guard, in order, until the returned function is called. Events are built
 * only while somebody listens. It may throw: that reaches no call and no other listener.
 */
export function listen(listener: EventSink, runtime: Runtime = theHost().runtime): () => void {
  return runtime.listen(checkFunction("listener", listener));
}
