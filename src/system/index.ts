/** The system file: its types, its checks, and the guards it describes. Needs the optional peer `zod`. */
export {
  asShipped,
  type BasketlyParameters,
  type DeadlineWord,
  PARAMETERS,
  type Parameter,
  type ParameterName,
  type ParameterRange,
} from "./basketly/parameters.ts";
export { parametersOf, SETTINGS } from "./basketly/settings.ts";
export { basketlySystem, scaled, WITHOUT_BADGES } from "./basketly/system.ts";
export { type BoundEdge, bindEdge, bindQueue, edgeKey, type Functions } from "./bind.ts";
export { SystemError, type SystemIssue } from "./errors.ts";
export { type Explanation, explain, type WorstCase, worstCase } from "./explain.ts";
export { type ExplainedOperation, type ExplainedSystem, explainSystem } from "./explain-system.ts";
export { jsonSchema } from "./json-schema.ts";
export { readSystem } from "./load.ts";
export { attemptsAlong, type PathAttempts } from "./paths.ts";
export type {
  ActionSpec,
  Bound,
  BulkheadSpec,
  DurationSpec,
  EdgeSpec,
  FallbackSpec,
  FaultSpec,
  GuardSpec,
  QueueSpec,
  ServedOperation,
  ServiceSpec,
  SystemFile,
  WireSpec,
  WorkloadSpec,
} from "./types.ts";
