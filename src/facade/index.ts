/** The promise shell. */
export type { CallOptions } from "./call-options.ts";
export { type CheckpointOptions, checkpoint } from "./checkpoint.ts";
export {
  type Dependency,
  dependency,
  type NotRaw,
  type Operation,
  operation,
  type WithClassifier,
  type WithFallback,
} from "./dependency.ts";
export { type Every, type EveryOptions, every } from "./every.ts";
export { type Ambient, type Host, plugHost, theHost } from "./host.ts";
export { listen } from "./listen.ts";
export { performPromise, type Work } from "./perform.ts";
export { type Shield, type ShieldedCall, type ShieldOptions, type ShieldStep, shield } from "./shield.ts";
export { type SliceOptions, TimeLimit, type TimeLimitOptions, timeLimit } from "./time-limit.ts";
