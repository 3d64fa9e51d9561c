/** A whole system file, explained: every operation of every edge, and how attempts multiply on their way down. */
import { bindEdge } from "./bind.ts";
import { type Explanation, explain } from "./explain.ts";
import { attemptsAlong, type PathAttempts } from "./paths.ts";
import { stubs } from "./stubs.ts";
import type { SystemFile } from "./types.ts";

/** One operation of one edge, explained. */
export interface ExplainedOperation extends Explanation {
  /** `from -> to`, as in the file. */
  readonly edge: string;
  readonly operation: string;
}

/** What `explainSystem` gives. */
export interface ExplainedSystem {
  readonly operations: readonly ExplainedOperation[];
  readonly paths: readonly PathAttempts[];
}

/** Explains a system file. Its fallbacks are named, and not run: it needs no code behind the names. */
export function explainSystem(system: SystemFile): ExplainedSystem {
  const functions = stubs(system);
  const operations = Object.keys(system.edges).flatMap((edge) => {
    const [from = "", to = ""] = edge.split(" -> ");
    const bound = bindEdge(system, from, to, functions);
    return Object.entries(bound.operations).map(([operation, options]) => ({
      edge,
      operation,
      ...explain(bound.dependency, options),
    }));
  });
  return { operations, paths: attemptsAlong(system, functions) };
}
