/**
 * From the data of a system file to options of the core: functions are looked up by name, "unbounded" becomes
 * Infinity. Both worlds take their guards through here.
 */
import type { BulkheadOptions } from "../core/bulkhead/guard.ts";
import type { FallbackFunction } from "../core/fallback/options.ts";
import type { DependencyOptions, OperationOptions } from "../core/policy-options.ts";
import type { QueueOptions } from "../core/queue/machine.ts";
import { SystemError } from "./errors.ts";
import type { Bound, BulkheadSpec, EdgeSpec, GuardSpec, QueueSpec, SystemFile, WireSpec } from "./types.ts";

/** The code behind the names in a system file. */
export interface Functions {
  readonly fallbacks?: Readonly<Record<string, FallbackFunction>>;
}

/** The guards of one caller for one callee, ready for `dependency()` and `operation()`. */
export interface BoundEdge {
  readonly wire: WireSpec;
  readonly dependency: DependencyOptions;
  readonly operations: Readonly<Record<string, OperationOptions>>;
}

/** What an attempt needs beyond the margin, so that what is sent along is never 0. */
const MORE_MS = 0.001;

/** The key of an edge. */
export function edgeKey(from: string, to: string): string {
  return `${from} -> ${to}`;
}

/**
 * The guards on `from -> to`. `name` is what the dependency is called in errors and events, and what its randomness
 * is forked by: instances of one service pass different names. Default: the name of the callee.
 */
export function bindEdge(
  system: SystemFile,
  from: string,
  to: string,
  functions: Functions = {},
  name: string = to,
): BoundEdge {
  const key = edgeKey(from, to);
  const edge = system.edges[key];
  if (edge === undefined) {
    throw new SystemError([{ path: "edges", value: key, allowed: Object.keys(system.edges).join(", ") }]);
  }
  const operations: Record<string, OperationOptions> = {};
  for (const [operation, spec] of Object.entries(edge.operations)) {
    const path = `edges["${key}"].operations.${operation}`;
    operations[operation] = bindOperation(spec, edge.wire, functions, path);
  }
  return { wire: edge.wire, dependency: bindDependency(edge, name), operations };
}

function bindDependency(
  { bulkhead, rateLimit, adaptiveThrottle, budget }: EdgeSpec,
  name: string,
): DependencyOptions {
  return {
    name,
    ...(bulkhead !== undefined && { bulkhead: bindBulkhead(bulkhead) }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(adaptiveThrottle !== undefined && { adaptiveThrottle }),
    ...(budget !== undefined && { budget }),
  };
}

function bindOperation(
  spec: GuardSpec,
  wire: WireSpec,
  functions: Functions,
  path: string,
): OperationOptions {
  const { fallback, bulkhead, retry, minUsefulMs = 0, ...plain } = spec;
  const { marginMs = 0 } = wire;
  const least = marginMs > 0 ? Math.max(minUsefulMs, marginMs + MORE_MS) : minUsefulMs;
  return {
    ...plain,
    ...(least > 0 && { minUsefulMs: least }),
    ...(retry !== undefined && { retry }),
    ...(bulkhead !== undefined && { bulkhead: bindBulkhead(bulkhead) }),
    ...(fallback !== undefined && { fallback: bindFallback(fallback, functions, path) }),
  };
}

function bindFallback(
  spec: NonNullable<GuardSpec["fallback"]>,
  functions: Functions,
  path: string,
): NonNullable<OperationOptions["fallback"]> {
  if (typeof spec === "object" && "kind" in spec) return spec;
  const named = typeof spec === "string" ? spec : spec.run;
  const known = functions.fallbacks ?? {};
  const run = Object.hasOwn(known, named) ? known[named] : undefined;
  if (run === undefined) {
    const allowed = Object.keys(known).join(", ") || "none is bound in code";
    throw new SystemError([{ path: `${path}.fallback`, value: named, allowed }]);
  }
  return typeof spec === "string" ? run : { ...spec, run };
}

function bindBulkhead({ queue, ...rest }: BulkheadSpec): BulkheadOptions {
  return queue === undefined ? rest : { ...rest, queue: bindQueue(queue) };
}

/** The options of an admission queue. */
export function bindQueue({ maxWaiting, maxWaitMs, maxBytes }: QueueSpec): QueueOptions {
  return {
    maxWaiting: bound(maxWaiting),
    ...(maxWaitMs !== undefined && { maxWaitMs: bound(maxWaitMs) }),
    ...(maxBytes !== undefined && { maxBytes: bound(maxBytes) }),
  };
}

function bound(value: Bound): number {
  return value === "unbounded" ? Infinity : value;
}
