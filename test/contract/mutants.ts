// Faults put into the kernel on purpose: each breaks a law, and the fuzz must see it.

import { type Mutant, mutant } from "./mutant.ts";
import { MUTANTS_OF_ADMITTERS } from "./mutants-of-admitters.ts";
import { MUTANTS_OF_SEQUENCES } from "./mutants-of-sequences.ts";

export const MUTANTS: readonly Mutant[] = [
  mutant("1", "an answer is delivered again", [
    "progress.ts",
    "const answer = this.answer; this.answer = null;",
    "const answer = this.answer;",
  ]),
  mutant("1", "a cancelled waiter stays in its queue and is sent later", [
    "attempt.ts",
    'this.stopWaiting(); this.report({ kind: "cancelled", reason });',
    'this.report({ kind: "cancelled", reason });',
  ]),
  mutant("1", "a backoff that cancels its own call is followed by another attempt", [
    "fused.ts",
    "if (this.exit !== null) return; if (decision !== null)",
    "if (decision !== null)",
  ]),
  mutant(
    "1",
    "a cancel does not reach the branches of a race",
    ["driver.ts", "for (const branch of this.branches) branch.cancel(reason);", ""],
    ["hedge/guard.ts", "fiber.cancel(HEDGE_LOST);", ""],
  ),
  mutant("2", "places are given back at the answer, not at the end", [
    "attempt.ts",
    'if (exit.kind !== "ok") this.abandon(exit);',
    'if (exit.kind !== "ok") { this.release(); this.abandon(exit); }',
  ]),
  mutant("2", "a place is given back twice", ["admission.ts", "this.permits = kept;", ""]),
  mutant("2", "a place is taken back that was not to be", [
    "admission.ts",
    "const dueMs = soonest(held);",
    "const dueMs = Infinity;",
  ]),
  mutant("2", "the timer goes on after the answer", [
    "attempt.ts",
    "this.runtime.cancel(this); this.abandonedFor = because;",
    "this.abandonedFor = because;",
  ]),
  mutant("2", "abandoned work is not counted", ["attempt.ts", "this.leaf.abandoned++;", ""]),
  mutant("2", "work is not told that it is given up", [
    "attempt.ts",
    "if (this.abort !== null) this.abort.fire(because);",
    "",
  ]),
  mutant("2", "a second end of the work counts", [
    "attempt.ts",
    "if (this.workEnded || this.live === 0) return; this.workEnded = true;",
    "if (this.live === 0) return; this.workEnded = true;",
  ]),
  mutant("2", "unwinding leaves the place of a scope behind", [
    "driver.ts",
    "} finally { scope.close(exit); }",
    '} finally { if (exit.kind !== "cancelled") scope.close(exit); }',
  ]),
  mutant(
    "2",
    "a call within another is a part of it only while it is sent",
    ["progress.ts", "if (outer !== null) outer.beginNested();", ""],
    [
      "progress.ts",
      "if (this.runtime.sink !== null) this.tellAnswered(exit); if (this.outer !== null) this.outer.endNested();",
      "if (this.runtime.sink !== null) this.tellAnswered(exit);",
    ],
  ),
  mutant("2", "a scope gives its place back while work within goes on", [
    "driver.ts",
    "this.settle(evidenceOf(exit)); this.endOne();",
    "this.settle(evidenceOf(exit)); this.live = 1; this.endOne();",
  ]),
  mutant("3", "a cancelled probe keeps its slot", [
    "breaker/machine.ts",
    'state.probes.splice(index, 1); if (verdict === "failure")',
    'if (verdict !== "ignored") state.probes.splice(index, 1); if (verdict === "failure")',
  ]),
  mutant("3", "a half-open breaker lets everybody through", [
    "breaker/machine.ts",
    'if (state.passed + state.probes.length < this.policy.probes) return "probe";',
    'return "probe";',
  ]),
  mutant("3", "a cancelled attempt is a failure", [
    "evidence.ts",
    'cancelled: row("cancelled", "ignored",',
    'cancelled: row("cancelled", "failure",',
  ]),
  mutant("3", "a clipped timeout is a failure", [
    "evidence.ts",
    'clipped: row("clipped", "ignored",',
    'clipped: row("clipped", "failure",',
  ]),
  mutant("3", "the loser of a race is a failure", [
    "evidence.ts",
    'hedgeLoser: row("hedgeLoser", "ignored",',
    'hedgeLoser: row("hedgeLoser", "failure",',
  ]),
  mutant("3", "a refusal by a guard within is a failure", [
    "breaker/guard.ts",
    "if (!machine.policy.refusalsFail) return;",
    "",
  ]),
  mutant("3", "a probe is taken when it is asked for", [
    "breaker/guard.ts",
    'if (answer === "probe" && asking.kind !== "hedge") return null;',
    'if (answer === "probe" && asking.kind !== "hedge") { machine.probe(now); return null; }',
  ]),
  mutant("3", "a change of the breaker is told again by whatever lands late", [
    "breaker/permits.ts",
    "machine.record(period, guard.verdict(evidence), now, guard.at.random, ageOf(evidence, admission, now)); guard.changed(before);",
    "machine.record(period, guard.verdict(evidence), now, guard.at.random, ageOf(evidence, admission, now)); guard.changed(period);",
  ]),
  mutant("4", "a classifier that throws breaks out", [
    "attempt.ts",
    'try { return understood(judge(result, this)) ?? classify(result); } catch (error) { return failed(error, "permanent"); }',
    "return understood(judge(result, this)) ?? classify(result);",
  ]),
  mutant("5", "a freed place wakes nobody", [
    "bulkhead/guard.ts",
    "this.places.release(); if (this.queue.size > 0) this.callWaiters();",
    "this.places.release();",
  ]),
  mutant("5", "the last to come is the first to go", [
    "queue/machine.ts",
    "const entry = this.front; if (entry !== null) this.remove(entry);",
    "const entry = this.rear; if (entry !== null) this.remove(entry);",
  ]),
  mutant(
    "5",
    "a newcomer passes the waiters",
    [
      "bulkhead/guard.ts",
      "if (fits && (this.queue.size === 0 || this.calling === asking)) return null;",
      "if (fits) return null;",
    ],
    [
      "bulkhead/guard.ts",
      "this.places.release(); if (this.queue.size > 0) this.callWaiters();",
      "this.places.release(); this.runtime.loop.push({ context: null, run: () => this.callWaiters() });",
    ],
  ),
  mutant("6", "the wait for a place has no limit of its own", [
    "bulkhead/guard.ts",
    "const limitMs = Math.min(this.queue.maxWaitMs, call.deadline - now);",
    "const limitMs = call.deadline - now;",
  ]),
  mutant("6", "attempts are not counted", [
    "retry/machine.ts",
    "if (number >= this.attempts) return this.attempts > 1 ? ATTEMPTS_SPENT : null;",
    "",
  ]),
  mutant("8", "a local refusal is retried", [
    "retry/machine.ts",
    'if (exit.kind !== "failed") return null;',
    'if (exit.kind === "rejected" && number < this.attempts) return { kind: "again", delayMs: 1, token: null };' +
      ' if (exit.kind !== "failed") return null;',
  ]),
  mutant("8", "what may have taken effect is repeated", [
    "retry/machine.ts",
    'if (rule === "always" || exit.effect === "none" || call.repeatable) return undefined;',
    "return undefined;",
  ]),
  mutant("9", "a deadline does not count in a queue", [
    "bulkhead/guard.ts",
    "const limitMs = Math.min(this.queue.maxWaitMs, call.deadline - now);",
    "const limitMs = this.queue.maxWaitMs;",
  ]),
  mutant("9", "an attempt may take longer than its call", [
    "attempt.ts",
    "const limit = Math.min(this.timeoutMs, this.call.deadline - now);",
    "const limit = this.timeoutMs;",
  ]),
  mutant("9", "a backoff beyond the deadline is slept", [
    "retry/machine.ts",
    "if (call.deadline - now - delayMs < Math.max(this.minUsefulMs, Number.MIN_VALUE)) return NO_TIME;",
    "",
  ]),
  mutant("10", "a token is not handed back when its call is cancelled in the backoff (fused)", [
    "fused.ts",
    "this.call.runtime.cancel(this); if (this.token !== null) this.token.cancel();",
    "this.call.runtime.cancel(this);",
  ]),
  mutant("10", "a token is not handed back when its call is cancelled in the backoff (generators)", [
    "retry/guard.ts",
    "} finally { if (token !== null) token.cancel(); }",
    "} finally { }",
  ]),
  mutant("10", "a repeat earns like a first attempt", [
    "attempt.ts",
    "else if (leaf.budget !== null) leaf.budget.firstSent(now);",
    "if (leaf.budget !== null) leaf.budget.firstSent(now);",
  ]),
  mutant("10", "a reservation costs nothing", [
    "budget/machine.ts",
    "this.thousandths -= ONE; return ONE;",
    "return 0;",
  ]),
  mutant("parity", "the fused path tells of its decisions too late", [
    "fused.ts",
    "if (decision !== null) emitDecision(this, decision, number);",
    "if (decision !== null) this.runtime.loop.push({ context: null, run: () => emitDecision(this, decision, number) });",
  ]),
  ...MUTANTS_OF_SEQUENCES,
  ...MUTANTS_OF_ADMITTERS,
];
