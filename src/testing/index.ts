/** Virtual time for tests and simulations. */
export { TimerHeap } from "./heap.ts";
export { VirtualRuntime, type VirtualRuntimeOptions } from "./virtual-runtime.ts";
