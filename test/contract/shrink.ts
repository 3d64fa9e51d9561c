// Makes a failing program small: tries one simplification after another, and keeps those that fail the same law.
import type { CallSpec, Program, StackSpec, WorkSpec } from "./program.ts";

const without = <T>(list: readonly T[], index: number): T[] => list.filter((_, at) => at !== index);
const replaced = <T>(list: readonly T[], index: number, value: T): T[] =>
  list.map((old, at) => (at === index ? value : old));

function* simplerWorks(work: WorkSpec): Generator<WorkSpec> {
  if (work.deed !== null) yield { ...work, deed: null };
  if (work.holdMs !== null) yield { ...work, holdMs: null };
  if (work.twice) yield { ...work, twice: false };
  if (work.listens !== "no") yield { ...work, listens: "no", obeysAfterMs: null };
  if (work.how !== "sync") yield { ...work, how: "sync" };
  if (work.how === "async" && work.afterMs > 0) yield { ...work, afterMs: work.afterMs >> 1 };
  if (work.result !== "ok") yield { ...work, result: "ok" };
}

function* simplerCalls(call: CallSpec): Generator<CallSpec> {
  if (call.at !== null) yield { ...call, at: null };
  for (let i = 0; i < call.deeds.length; i++) yield { ...call, deeds: without(call.deeds, i) };
  if (call.cancelAfterMs !== null) yield { ...call, cancelAfterMs: null };
  if (call.withinMs !== null) yield { ...call, withinMs: null };
  if (call.nested) yield { ...call, nested: false };
  if (call.keyed) yield { ...call, keyed: false };
  if (call.works.length > 1)
    for (let i = 0; i < call.works.length; i++) yield { ...call, works: without(call.works, i) };
  for (const [i, work] of call.works.entries())
    for (const simpler of simplerWorks(work)) yield { ...call, works: replaced(call.works, i, simpler) };
  if (call.at !== null && call.at > 0) yield { ...call, at: call.at >> 1 };
}

function* simplerStacks(stack: StackSpec): Generator<StackSpec> {
  for (let i = 0; i < stack.guards.length; i++) yield { ...stack, guards: without(stack.guards, i) };
  if (stack.backoffDeeds.length > 0) yield { ...stack, backoffDeeds: [] };
  if (stack.budget !== null) yield { ...stack, budget: null };
  if (stack.minUsefulMs > 0) yield { ...stack, minUsefulMs: 0 };
  for (const [i, guard] of stack.guards.entries()) {
    if (guard.kind !== "retry") continue;
    if (guard.attempts > 1)
      yield { ...stack, guards: replaced(stack.guards, i, { ...guard, attempts: guard.attempts - 1 }) };
    if (guard.waits === "jitter")
      yield { ...stack, guards: replaced(stack.guards, i, { ...guard, waits: [1] }) };
  }
}

function* simpler(program: Program): Generator<Program> {
  const { calls, stacks, acts, bulkheads } = program;
  for (const [i, call] of calls.entries())
    for (const next of simplerCalls(call)) yield { ...program, calls: replaced(calls, i, next) };
  // The last call can go altogether: nobody's number changes.
  if (calls.length > 1) yield { ...program, calls: calls.slice(0, -1) };
  for (let i = 0; i < acts.length; i++) yield { ...program, acts: without(acts, i) };
  for (const [i, stack] of stacks.entries())
    for (const next of simplerStacks(stack)) yield { ...program, stacks: replaced(stacks, i, next) };
  for (const [i, bulkhead] of bulkheads.entries())
    if (bulkhead.reclaimMs !== null)
      yield { ...program, bulkheads: replaced(bulkheads, i, { ...bulkhead, reclaimMs: null }) };
}

/** The smallest program found that still fails, within so many tries. */
export function shrink(program: Program, fails: (program: Program) => boolean, tries = 3000): Program {
  let smallest = program;
  let left = tries;
  for (let again = true; again; ) {
    again = false;
    for (const next of simpler(smallest)) {
      if (left-- <= 0) return smallest;
      if (!fails(next)) continue;
      smallest = next;
      again = true;
      break;
    }
  }
  return smallest;
}
