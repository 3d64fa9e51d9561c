/**
 * Reading a system file: its shape first, then what it refers to, then every guard, made once on a clock that never
 * moves, so that the core's own checks have the last word. Nothing starts with a file that failed any of it.
 */
import { OptionError } from "../core/errors.ts";
import { DependencyPolicy } from "../core/policy.ts";
import { SeededRandom } from "../core/random.ts";
import { Runtime } from "../core/runtime.ts";
import { bindEdge, edgeKey, type Functions } from "./bind.ts";
import { SystemError, type SystemIssue } from "./errors.ts";
import { systemSchema } from "./schema.ts";
import { stubs } from "./stubs.ts";
import type { SystemFile } from "./types.ts";

/**
 * Checks plain data and gives it back as a system file. With `functions`, the names of fallbacks are looked up too.
 * Throws a `SystemError` that lists everything that is wrong.
 */
export function readSystem(data: unknown, functions?: Functions): SystemFile {
  const { success, error } = systemSchema.safeParse(data, { error: whatIsExpected });
  if (!success) {
    throw new SystemError(
      error.issues.flatMap((issue) => {
        const path = issue.path as (string | number)[];
        if (issue.code !== "unrecognized_keys") {
          return [{ path: spelled(path), value: valueAt(data, path), allowed: issue.message }];
        }
        return issue.keys.map((key) => ({
          path: spelled([...path, key]),
          value: valueAt(data, [...path, key]),
          allowed: "nothing: there is no such field here",
        }));
      }),
    );
  }
  const system = data as SystemFile;
  const issues = [...references(system), ...cycles(system)];
  if (issues.length === 0) issues.push(...guards(system, functions));
  if (issues.length > 0) throw new SystemError(issues);
  return system;
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a text",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** What may stand where something of another kind stands, for fields that say nothing of their own. */
function whatIsExpected(issue: { readonly code?: string; readonly expected?: unknown }): string | undefined {
  return issue.code === "invalid_type" ? KINDS[String(issue.expected)] : undefined;
}

/** Calls, edges and faults must name what is there; every call needs an edge that guards it. */
function references(system: SystemFile): SystemIssue[] {
  const calls: { path: string; from: string; call: string }[] = [];
  for (const [name, { call }] of Object.entries(system.workload.actions)) {
    calls.push({ path: `workload.actions.${name}.call`, from: system.workload.from, call });
  }
  for (const [service, { operations }] of Object.entries(system.services)) {
    for (const [operation, spec] of Object.entries(operations)) {
      for (const [index, call] of (spec.calls ?? []).entries()) {
        const path = spelled(["services", service, "operations", operation, "calls", index]);
        calls.push({ path, from: service, call });
      }
    }
  }
  const known = Object.entries(system.services).flatMap(([service, { operations }]) =>
    Object.keys(operations).map((operation) => `${service}.${operation}`),
  );
  return [...calls.flatMap((call) => unknownCall(system, known, call)), ...faultyFaults(system)];
}

function unknownCall(
  system: SystemFile,
  known: readonly string[],
  { path, from, call }: { path: string; from: string; call: string },
): SystemIssue[] {
  if (!known.includes(call)) return [{ path, value: call, allowed: known.join(", ") }];
  const [to = "", operation = ""] = call.split(".");
  const edge = system.edges[edgeKey(from, to)];
  const place = spelled(["edges", edgeKey(from, to), "operations", operation]);
  if (edge?.operations[operation] !== undefined) return [];
  return [{ path: place, value: undefined, allowed: `the guards of what ${path} calls ({} for none)` }];
}

function faultyFaults({ faults = [], services, edges }: SystemFile): SystemIssue[] {
  return faults.flatMap((fault, index) => {
    if (fault.kind === "slow") {
      if (Object.hasOwn(services, fault.service)) return [];
      const allowed = Object.keys(services).join(", ");
      return [{ path: `faults[${index}].service`, value: fault.service, allowed }];
    }
    if (Object.hasOwn(edges, fault.edge)) return [];
    return [{ path: `faults[${index}].edge`, value: fault.edge, allowed: Object.keys(edges).join(", ") }];
  });
}

/** A service that calls itself, through others or not, would wait for its own places. */
function cycles({ services }: SystemFile): SystemIssue[] {
  const issues: SystemIssue[] = [];
  const done = new Set<string>();
  const visit = (name: string, above: readonly string[]): void => {
    if (above.includes(name)) {
      const value = [...above.slice(above.indexOf(name)), name].join(" -> ");
      issues.push({ path: "services", value, allowed: "calls without a circle" });
      return;
    }
    if (done.has(name)) return;
    const calls = Object.values(services[name]?.operations ?? {}).flatMap((spec) => spec.calls ?? []);
    for (const call of calls) visit(call.split(".")[0] ?? "", [...above, name]);
    done.add(name);
  };
  for (const name of Object.keys(services)) visit(name, []);
  return issues;
}

/** Makes every guard once. */
function guards(system: SystemFile, functions: Functions | undefined): SystemIssue[] {
  const issues: SystemIssue[] = [];
  for (const key of Object.keys(system.edges)) {
    const [from = "", to = ""] = key.split(" -> ");
    try {
      const edge = bindEdge(system, from, to, functions ?? stubs(system));
      const policy = new DependencyPolicy(edge.dependency, new StillRuntime(), () => {});
      for (const [name, options] of Object.entries(edge.operations)) policy.operation(name, options);
    } catch (error) {
      if (error instanceof SystemError) issues.push(...error.issues);
      else if (error instanceof OptionError) issues.push(optionIssue(key, error));
      else throw error;
    }
  }
  return issues;
}

/** What the core says of an option, at the place where the file says it. */
function optionIssue(key: string, error: OptionError): SystemIssue {
  const place = spelled(["edges", key]);
  const [said = "", allowed = ""] = error.message.split("; allowed: ");
  return { path: `${place}, ${error.field}`, value: said.slice(error.field.length + 4), allowed };
}

/** A runtime in which nothing ever happens. */
class StillRuntime extends Runtime {
  override readonly random: SeededRandom = new SeededRandom(0);

  override now(): number {
    return 0;
  }

  override arm(): void {}

  override cancel(): void {}

  override uncaught(): void {}
}

function spelled(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    if (/^[A-Za-z_$][\w$]*$/.test(key)) return text === "" ? key : `${text}.${key}`;
    return `${text}[${JSON.stringify(key)}]`;
  }, "");
}

function valueAt(data: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string | number, unknown> | undefined)?.[key], data);
}
