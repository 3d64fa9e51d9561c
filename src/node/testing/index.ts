/** For tests of async code: virtual time, scripted work, faults around real work, and a seed on the real clock. */
export type { Fault, FaultKind, FaultPlanOptions } from "../../testing/fault-plan.ts";
export { NodeRuntime, type NodeRuntimeOptions } from "../runtime.ts";
export { type FaultOptions, type Faulty, faults } from "./faults.ts";
export { type Scripted, type ScriptedAttempt, type Step, scripted } from "./scripted.ts";
export { VirtualTime, virtualTime } from "./virtual-time.ts";
