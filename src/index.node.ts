/** Plimsoll on Node: the same names, with Node's clock, timers and async context plugged in. */
import { plugNode } from "./node/host.ts";

plugNode();

export * from "./index.ts";
