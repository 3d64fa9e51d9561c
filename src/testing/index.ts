/** Virtual time for tests and simulations, and books that must balance. */
export { type Account, type Bookkept, Books, type CountingRuntime, keepBooks } from "./books.ts";
export type { Fault, FaultKind, FaultPlanOptions } from "./fault-plan.ts";
export { TimerQueue } from "./timer-queue.ts";
export { VirtualRuntime, type VirtualRuntimeOptions } from "./virtual-runtime.ts";
