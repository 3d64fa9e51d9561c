/** Virtual time for tests and simulations. */
export { TimerQueue } from "./timer-queue.ts";
export { VirtualRuntime, type VirtualRuntimeOptions } from "./virtual-runtime.ts";
