// Makes a failing program small: tries one simplification after another, and keeps those that fail the same law.
import type {
  BreakerSpec,
  BulkheadSpec,
  CallSpec,
  GuardSpec,
  Program,
  RateSpec,
  StackSpec,
  WorkSpec,
} from "./program.ts";

const without = <T>(list: readonly T[], index: number): T[] => list.filter((_, at) => at !== index);
const replaced = <T>(list: readonly T[], index: number, value: T): T[] =>
  list.map((old, at) => (at === index ? value : old));

function* simplerWorks(work: WorkSpec): Generator<WorkSpec> {
  if (work.deed !== null) yield { ...work, deed: null };
  if (work.holdMs !== null) yield { ...work, holdMs: null };
  if (work.twice) yield { ...work, twice: false };
  for (let i = 0; i < work.begins.length; i++) yield { ...work, begins: without(work.begins, i) };
  for (let i = 0; i < work.chooses.length; i++) yield { ...work, chooses: without(work.chooses, i) };
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
  if (call.tenant !== "") yield { ...call, tenant: "" };
  if (call.key !== "") yield { ...call, key: "" };
  if (call.bytes > 0) yield { ...call, bytes: 0 };
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
  for (const [i, guard] of stack.guards.entries())
    for (const simpler of simplerGuards(guard))
      yield { ...stack, guards: replaced(stack.guards, i, simpler) };
}

function* simplerGuards(guard: GuardSpec): Generator<GuardSpec> {
  if (guard.kind === "retry") {
    if (guard.attempts > 1) yield { ...guard, attempts: guard.attempts - 1 };
    if (guard.waits === "jitter") yield { ...guard, waits: [1] };
  } else if (guard.kind === "hedge") {
    if (guard.attempts > 2) yield { ...guard, attempts: guard.attempts - 1 };
    if (guard.onFailure === "next") yield { ...guard, onFailure: "stop" };
    if (guard.tied) yield { ...guard, tied: false };
    if (typeof guard.delayMs !== "number") yield { ...guard, delayMs: guard.delayMs.minMs };
  } else if (guard.kind === "fallback") {
    if (guard.exercise > 0) yield { ...guard, exercise: 0 };
    if (guard.reserveMs > 0) yield { ...guard, reserveMs: 0 };
    if (guard.permanent) yield { ...guard, permanent: false };
    for (const work of simplerWorks(guard.work)) yield { ...guard, work };
  } else if (guard.kind === "coalesce") {
    if (guard.shareFailuresMs > 0) yield { ...guard, shareFailuresMs: 0 };
  } else if (guard.kind === "breakers") yield { kind: "breaker", of: guard.of };
  else if (guard.kind === "bulkheads") yield { kind: "bulkhead", of: guard.of };
  else if (guard.kind === "rates") yield { kind: "rate", of: guard.of };
}

function* simplerBulkheads(bulkhead: BulkheadSpec): Generator<BulkheadSpec> {
  const { limit, maxBytes, maxWaitingBytes, reclaimMs, holds } = bulkhead;
  if (typeof limit !== "number") yield { ...bulkhead, limit: limit.initial };
  if (maxBytes !== null) yield { ...bulkhead, maxBytes: null };
  if (maxWaitingBytes !== null) yield { ...bulkhead, maxWaitingBytes: null };
  if (reclaimMs !== null) yield { ...bulkhead, reclaimMs: null };
  if (holds === "handler") yield { ...bulkhead, holds: "subtree" };
}

function* simplerBreakers(breaker: BreakerSpec): Generator<BreakerSpec> {
  if (breaker.slowCallMs !== null) yield { ...breaker, slowCallMs: null };
  if (breaker.consecutiveFailures !== null) yield { ...breaker, consecutiveFailures: null };
  if (breaker.rampMs > 0) yield { ...breaker, rampMs: 0 };
}

function* simplerRates(rate: RateSpec): Generator<RateSpec> {
  if (rate.costly) yield { ...rate, costly: false };
}

function* simpler(program: Program): Generator<Program> {
  const { calls, stacks, acts, bulkheads, breakers, rates } = program;
  for (const [i, call] of calls.entries())
    for (const next of simplerCalls(call)) yield { ...program, calls: replaced(calls, i, next) };
  // The last call can go altogether: nobody's number changes.
  if (calls.length > 1) yield { ...program, calls: calls.slice(0, -1) };
  for (let i = 0; i < acts.length; i++) yield { ...program, acts: without(acts, i) };
  for (const [i, stack] of stacks.entries())
    for (const next of simplerStacks(stack)) yield { ...program, stacks: replaced(stacks, i, next) };
  for (const [i, bulkhead] of bulkheads.entries())
    for (const next of simplerBulkheads(bulkhead))
      yield { ...program, bulkheads: replaced(bulkheads, i, next) };
  for (const [i, breaker] of breakers.entries())
    for (const next of simplerBreakers(breaker)) yield { ...program, breakers: replaced(breakers, i, next) };
  for (const [i, rate] of rates.entries())
    for (const next of simplerRates(rate)) yield { ...program, rates: replaced(rates, i, next) };
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
