/** Plimsoll on Node: the same names, with Node's clock, timers and async context plugged in. */
import { plugHost } from "./facade/host.ts";
import { contextReader, outsideRequest } from "./node/context.ts";
import { nodeRuntime } from "./node/runtime.ts";

plugHost({
  runtime: nodeRuntime,
  ambient: contextReader(),
  outsideRequest,
  nextTurn: (fn) => void setImmediate(fn),
});

export * from "./index.ts";
