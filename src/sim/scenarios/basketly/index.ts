/** Basketly, replayed. */
export { PARAMETERS, type ParameterName } from "../../../system/basketly/parameters.ts";
export { SETTINGS } from "../../../system/basketly/settings.ts";
export { SystemError, type SystemIssue } from "../../../system/errors.ts";
export { BusySampler, Measures, percentile, type Waits } from "./measures.ts";
export { type Overrides, readOverrides, type Step, type Value } from "./overrides.ts";
export { type MeasuredReplay, type Replay, type ReplayOptions, replayBasketly } from "./replay.ts";
export { type MeanSecond, meanOf, newSecond, type Refused, recoveredAt, type Second } from "./second.ts";
