/** The promise shell. */
export {
  type CallOptions,
  type Dependency,
  dependency,
  type NotRaw,
  type Operation,
  operation,
  type WithClassifier,
  type WithFallback,
} from "./dependency.ts";
export { type Ambient, type Host, plugHost, theHost } from "./host.ts";
export { listen } from "./listen.ts";
export { performPromise, type Work } from "./perform.ts";
