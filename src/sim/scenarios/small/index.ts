/** The small scenarios, by name. */
import { CONTENTION, RETRY_DEPTH, SEMIAN_PROBES, TAIL_AT_SCALE } from "./multiplied.ts";
import { PARTIAL } from "./partial.ts";
import type { Scenario } from "./scenario.ts";
import { TIED } from "./tied.ts";
import { JITTER, PERIODIC_OFFSET, PERIODIC_SAME, PROBE_HERD } from "./waves.ts";

export type { Figures, Scenario } from "./scenario.ts";

/** Every small scenario. */
export const SCENARIOS: readonly Scenario[] = [
  JITTER,
  PERIODIC_SAME,
  PERIODIC_OFFSET,
  PROBE_HERD,
  RETRY_DEPTH,
  SEMIAN_PROBES,
  CONTENTION,
  TAIL_AT_SCALE,
  TIED,
  PARTIAL,
];
