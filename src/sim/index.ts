/** The simulator: a system file on a virtual clock, with the guards that ship; and Basketly, replayed. */
export { WorkTime } from "./duration.ts";
export { exponential, lnOfWhole, rounded } from "./exact.ts";
export {
  DEGRADED,
  Exchange,
  FINAL_503,
  FINAL_504,
  type Origin,
  RETRYABLE_503,
  RETRYABLE_504,
  type Reply,
  WHOLE,
} from "./exchange.ts";
export { Handler } from "./handler.ts";
export { LogHash } from "./hash.ts";
export { Link, refusedBy, Target } from "./link.ts";
export * from "./scenarios/basketly/index.ts";
export { type Figures, SCENARIOS, type Scenario } from "./scenarios/small/index.ts";
export { type Served, Server } from "./server.ts";
export { LinkTap, ServerTap } from "./taps.ts";
export { Action, type ActionTap, Arrivals } from "./workload.ts";
export { World, type WorldOptions } from "./world.ts";
