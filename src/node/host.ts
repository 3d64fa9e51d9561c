/** What Node plugs into the promise shell: its runtime, and the request that is being served. */
import { plugHost } from "../facade/host.ts";
import { contextReader, outsideRequest } from "./context.ts";
import { nodeRuntime } from "./runtime.ts";

/** Plugs Node in. Doing it again changes nothing. */
export function plugNode(): void {
  plugHost({
    runtime: nodeRuntime,
    // Whole, so that no rounding makes a due time come twice.
    startedAtMs: Math.round(performance.timeOrigin),
    ambient: contextReader(),
    outsideRequest,
    nextTurn: (fn) => void setImmediate(fn),
  });
}
