/**
 * How attempts multiply on their way down: each layer's attempts, times those of every layer above it. Three layers of
 * three are 27 for one tap; the one number that nobody sees who looks at one service. Source: the Basketly page, Part 3.
 */
import { bindEdge, type Functions } from "./bind.ts";
import { worstCase } from "./explain.ts";
import type { SystemFile } from "./types.ts";

/** What one action can come to at an operation below it. */
export interface PathAttempts {
  readonly action: string;
  /** `service.operation`. */
  readonly at: string;
  /** Attempts at worst, for one action. */
  readonly attempts: number;
}

/** All that every action can come to, in the order of the calls. */
export function attemptsAlong(system: SystemFile, functions?: Functions): PathAttempts[] {
  return Object.entries(system.workload.actions).flatMap(([action, { call }]) =>
    below(system, system.workload.from, call, 1, functions).map(({ at, attempts }) => ({
      action,
      at,
      attempts,
    })),
  );
}

function below(
  system: SystemFile,
  from: string,
  call: string,
  above: number,
  functions: Functions | undefined,
): Omit<PathAttempts, "action">[] {
  const [service = "", operation = ""] = call.split(".");
  const { dependency, operations } = bindEdge(system, from, service, functions);
  const attempts = above * worstCase(dependency, operations[operation] ?? {}).attempts;
  const calls = system.services[service]?.operations[operation]?.calls ?? [];
  return [
    { at: call, attempts },
    ...calls.flatMap((next) => below(system, service, next, attempts, functions)),
  ];
}
