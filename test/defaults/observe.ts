// Where a default shows: what guards do when an option is left out.
import { vi } from "vitest";
import {
  AdmissionQueue,
  type AimdOptions,
  type Attempt,
  aimd,
  Backoff,
  type BackoffOption,
  BreakerPolicy,
  type Budget,
  Bulkhead,
  type BulkheadOptions,
  budgetOf,
  bulkhead,
  type ConcurrencyLimit,
  concurrencyLimit,
  DependencyPolicy,
  type Failed,
  type FailureClass,
  type FallbackCommonOptions,
  failed,
  fallback,
  type Guard,
  growing,
  grpcBackoff,
  grpcThrottle,
  HedgePolicy,
  immediately,
  type LatencyAimdOptions,
  LatencyWindow,
  type LiveDelayOptions,
  latencyAimd,
  type OperationOptions,
  PartialBreaker,
  type Perform,
  PLAIN_CALL,
  type ReopenOptions,
  retry,
  Stack,
  stale,
} from "../../src/core/index.ts";
import {
  type CallOptions,
  dependency,
  type Operation,
  performPromise,
  type TimeLimit,
  timeLimit,
} from "../../src/facade/index.ts";
import { checkpoint } from "../../src/index.node.ts";
import { VirtualRuntime } from "../../src/testing/index.ts";
import { fault, Lab, only } from "../lib/lab.ts";

/** The name of the error with which an option that must be given is missed; "accepted" if it is not. */
export function missed(make: () => unknown): string {
  try {
    make();
    return "accepted";
  } catch (error) {
    return (error as Error).name;
  }
}

/** The waits before the first, the second and the hundredth repeat, with chance in the middle. */
export function waits(backoff?: BackoffOption): number[] {
  const middle = { next: () => 0.5, fork: () => middle };
  return [1, 2, 100].map((repeat) => new Backoff(backoff).delayMs(repeat, 0, middle));
}

/** How long a breaker with `openMs: 1_000` stays open, the `openings`-th time in a row. */
export function openForMs(openings: number, chance: number, reopen: ReopenOptions = growing()): number {
  return new BreakerPolicy({ openMs: 1_000, reopen }).openForMs(openings, chance);
}

/** How many outcomes a breaker remembers that was told of 1,000. */
export function remembered(): number {
  const { window } = new BreakerPolicy({}).newPeriod(0);
  for (let i = 0; i < 1_000; i++) window.add(false, i);
  return window.total;
}

/** A bulkhead of one place. */
export function onePlace(more: Omit<BulkheadOptions, "limit"> = {}): Bulkhead {
  return new Bulkhead({ limit: 1, ...more }, new VirtualRuntime());
}

/** How many of 100 are let into a queue. */
export function mayWait(): number {
  const queue = new AdmissionQueue<Waiter>();
  return Array.from({ length: 100 }, () =>
    queue.join({ ahead: null, behind: null, waitingSince: 0 }, 0),
  ).filter(Boolean).length;
}

interface Waiter {
  ahead: Waiter | null;
  behind: Waiter | null;
  waitingSince: number;
}

/** When a call behind a full bulkhead, whose queue is given no time, stops waiting. */
export function waitEndsAt(): number {
  const lab = new Lab();
  const stack = lab.stack([bulkhead({ limit: 1, queue: { maxWaiting: 1 } })]);
  lab.start(stack, lab.hangs);
  const waiting = lab.start(stack, lab.gives(1));
  lab.runtime.runToIdle();
  return waiting.answeredAt;
}

/** A call with 50 ms whose dependency and whose fallback never answer: when each of the two is given up. */
export function fallbackTimes(options: FallbackCommonOptions = {}): { primary: number; both: number } {
  const lab = new Lab();
  const stack = lab.stack([fallback({ run: () => undefined, ...options })]);
  const call = lab.start(stack, lab.hangs, { withinMs: 50 });
  lab.runtime.runToIdle();
  const [first] = lab.events.filter((event) => event.type === "attempt.answered");
  return { primary: first?.at ?? -1, both: call.answeredAt };
}

/** What becomes of a permanent failure behind a fallback. */
export function permanentFailure(): string {
  const lab = new Lab();
  const stack = lab.stack([fallback({ run: () => undefined })]);
  return lab.start(stack, lab.throws(fault("permanent"))).answers[0]?.kind ?? "replaced";
}

/** An operation with nothing but what is given, of a dependency with nothing but its name. */
export function operationOf(options: OperationOptions = {}): Operation {
  return dependency({ name: "stock" }, new VirtualRuntime()).operation("view", options) as Operation;
}

/** An attempt as its work sees it. */
export function attemptOf(options: OperationOptions = {}, call: CallOptions = {}): Attempt {
  let seen: Attempt | null = null;
  void operationOf(options).outcome((attempt) => {
    seen = attempt;
    return 1;
  }, call);
  return seen as unknown as Attempt;
}

/** How many attempts a call makes that fails without saying whether it took effect. */
export function attemptsOf(options: OperationOptions): number {
  const runtime = new VirtualRuntime();
  let sent = 0;
  const view = dependency({ name: "stock" }, runtime).operation("view", options);
  void view.outcome(() => {
    sent++;
    throw fault("transient");
  });
  runtime.runToIdle();
  return sent;
}

/** What becomes of a call that fails. */
export function failureOf(options: OperationOptions): string {
  const policy = new DependencyPolicy({ name: "stock" }, new VirtualRuntime(), performPromise);
  const work = (): never => {
    throw fault("transient");
  };
  return policy.operation("view", options).start(work, PLAIN_CALL, Infinity, null).exit?.kind ?? "unanswered";
}

/** A stack with nothing but what it must be given, around these guards. */
export function bareStack(guards: readonly Guard[] = []): Stack {
  const perform: Perform = (attempt, work) => (work as (attempt: Attempt) => void)(attempt);
  return new Stack(
    { runtime: new VirtualRuntime(), dependency: "stock", operation: "view", perform },
    guards,
  );
}

/** How many attempts such a stack makes of a call that fails without saying whether it took effect. */
export function bareAttempts(): number {
  let sent = 0;
  const work = (attempt: Attempt): void => {
    sent++;
    attempt.fail(fault("transient"));
  };
  bareStack([retry({ attempts: 5, backoff: immediately })]).start(work, PLAIN_CALL, Infinity, null);
  return sent;
}

/** How a bare stack's attempt ends that has next to no time. */
export function withLittleTime(): string | undefined {
  const call = bareStack().start((attempt: Attempt) => attempt.succeed(1), PLAIN_CALL, 0.001, null);
  return call.exit?.kind;
}

/** Which way a bare stack drives a call. */
export function pathTaken(): string {
  return bareStack().start(() => undefined, PLAIN_CALL, Infinity, null).constructor.name;
}

/** Chance in the middle. */
const middle = { next: () => 0.5, fork: () => middle };

/** The waits before the first, the second and the hundredth repeat after throttling, with chance in the middle. */
export function throttledWaits(backoff: BackoffOption): number[] {
  const said = { throttled: true, hintMs: null };
  return [1, 2, 100].map((repeat) => new Backoff(backoff).delayMs(repeat, 0, middle, said));
}

/** What becomes of gRPC's backoff without one of its numbers. */
export function grpcWithout(field: string): string {
  const all = { initialBackoffMs: 100, maxBackoffMs: 1_000, backoffMultiplier: 2 };
  return missed(() => new Backoff(grpcBackoff({ ...all, [field]: undefined })));
}

/** What becomes of gRPC's throttle without one of its numbers. */
export function grpcThrottleWithout(field: string): string {
  return missed(() => budgetOf(grpcThrottle({ maxTokens: 10, tokenRatio: 0.1, [field]: undefined })));
}

/** A failure. */
export function failure(failureClass: FailureClass, ended?: Failed["ended"]): Failed {
  return failed(null, failureClass, { ended });
}

/** What a repeat after this failure takes out of a budget. */
export function costOf(budget: Budget, because: Failed): number {
  const before = budget.level;
  budget.reserve("retry", 0, because);
  return before - budget.level;
}

/** How many repeats may wait, `laterMs` after `firsts` first attempts were sent, none of them answered. */
export function repeatsWhile(budget: Budget, firsts: number, laterMs = 0): number {
  for (let i = 0; i < firsts; i++) budget.firstSent(0);
  let repeats = 0;
  while (repeats < 1_000 && budget.reserve("retry", laterMs, failure("transient")).kind === "token")
    repeats++;
  return repeats;
}

/** The delay of a live hedge that saw `samples` latencies of 1, 2, 3 … ms (or all of `eachMs`), `laterMs` later. */
export function liveDelay(live: LiveDelayOptions, samples: number, laterMs = 0, eachMs?: number): number {
  const policy = new HedgePolicy({ delayMs: live });
  for (let i = 1; i <= samples; i++) policy.took(eachMs ?? i, 0);
  return policy.delayMs(laterMs);
}

/** A latency as a histogram remembers it. */
export function bucketOf(ms: number): number | null {
  const latencies = new LatencyWindow(1_000);
  latencies.record(ms, 0);
  return latencies.percentile(1, 0);
}

/** How many of two calls with the same key are sent, at the same time. */
export function sentByTwo(options: OperationOptions): number {
  const view = operationOf(options);
  let sent = 0;
  const hangs = (): Promise<never> => {
    sent++;
    return new Promise(() => {});
  };
  for (let i = 0; i < 2; i++) void view.outcome(hangs, { key: "k" });
  return sent;
}

/** Whether a breaker for each key goes by the key, or by the tenant. */
export function keyedBy(): unknown[] {
  const view = operationOf({ breaker: { window: { calls: 1 }, perKey: {} } });
  const fails = (): never => {
    throw fault("transient");
  };
  void view.outcome(fails, { key: "a key", tenant: "a tenant" });
  return ["a key", "a tenant"].map((key) => view.breakers?.of(key)?.state.name ?? null);
}

/** A limit that learns. */
export function learningLimit(options: AimdOptions = {}): ConcurrencyLimit {
  return concurrencyLimit(aimd(options), () => 0.5);
}

/** What it is after so many overloads. */
export function cutTimes(times: number, options: AimdOptions = {}): number {
  const learning = learningLimit(options);
  for (let i = 1; i <= times; i++) learning.overloaded(i, i);
  return learning.limit;
}

/** What it is after 100,000 good answers. */
export function grownFor(): number {
  const learning = learningLimit();
  for (let i = 0; i < 100_000; i++) learning.sample(0, 1, learning.limit);
  return learning.limit;
}

/** A limit that watches latencies, when an overload is followed by something else `laterMs` later. */
export function afterOverload(options: LatencyAimdOptions, laterMs = 1_000): number {
  const learning = concurrencyLimit(latencyAimd(options), () => 0.5);
  learning.overloaded(0, 0);
  learning.overloaded(0, 0);
  learning.sample(0, laterMs, 1);
  return learning.limit;
}

/** The same after an interval of `samples` latencies of `eachMs`, beside a baseline of 10 ms. */
export function afterInterval(eachMs: number, more: LatencyAimdOptions = {}, samples = 20): number {
  const options = "baselineMs" in more ? {} : { baselineMs: 10, ...more };
  const learning = concurrencyLimit(latencyAimd(options), () => 0.5);
  learning.sample(-1, 0, 20);
  for (let i = 0; i < samples; i++) learning.sample(0, eachMs, 20);
  learning.sample(5_000, 5_000, 20);
  return learning.limit;
}

/** How many of 1,000 good answers are replaced on purpose. */
export function exercised(): number {
  const lab = new Lab();
  const stack = lab.stack([fallback(() => "substitute")]);
  const values = Array.from({ length: 1_000 }, () => lab.start(stack, lab.gives(1)).answers[0]);
  return values.filter((exit) => exit?.kind !== "ok" || exit.value !== 1).length;
}

/** How many good answers are kept of 10,000, each to another key. */
export function staleKeys(): number {
  const lab = new Lab();
  const stack = lab.stack([fallback(stale({ maxAgeMs: 1_000 }))]);
  const about = (key: number) => ({ fields: { ...PLAIN_CALL, key: `${key}` } });
  for (let key = 1; key <= 10_000; key++) lab.start(stack, lab.gives(key), about(key));
  const kept = (key: number): boolean =>
    lab.start(stack, lab.throws(fault("transient")), about(key)).answers[0]?.kind !== "failed";
  return Array.from({ length: 10_000 }, (_, index) => kept(index + 1)).filter(Boolean).length;
}

/** A time limit of `ms`. */
export function limit(ms = 900): TimeLimit {
  return timeLimit({ ms }, new VirtualRuntime());
}

/** Whether a loop gives way after computing for 4 ms, and after 6 ms. */
export function checkpoints(): unknown[] {
  const { signal } = new AbortController();
  const clock = vi.spyOn(performance, "now");
  try {
    clock.mockReturnValue(1_000);
    checkpoint(signal);
    clock.mockReturnValue(1_004.9);
    const early = checkpoint(signal);
    clock.mockReturnValue(1_005);
    return [early, checkpoint(signal) instanceof Promise];
  } finally {
    clock.mockRestore();
  }
}

/** What a partial breaker refuses after so many ms, when a call has failed at 0. */
export function partialShare(afterMs: number): number {
  const breaker = new PartialBreaker({}, 0);
  breaker.record(true, 0);
  return breaker.refusedShare(afterMs);
}

/** What one refuses after a second of 100 calls of which so many failed, for each number. */
export function partialShares(failing: readonly number[]): number[] {
  return failing.map((failures) => {
    const breaker = new PartialBreaker({}, 0);
    for (let i = 0; i < 100; i++) breaker.record(i < failures, 0);
    return breaker.refusedShare(1_000);
  });
}

/** What is left, to a thousandth, of the most that one refuses, an interval after its failures were forgotten. */
export function partialFall(): number {
  const breaker = new PartialBreaker({}, 0);
  for (let at = 0; at < 30; at++) breaker.record(true, at * 1_000);
  return Math.round(1_000 * breaker.refusedShare(40_000)) / 1_000;
}

/** Why a retry does not repeat what a call further down has given up on. */
export function nestedRetry(): string | undefined {
  const lab = new Lab();
  const stack = lab.stack([retry({ backoff: immediately })]);
  const call = lab.start(stack, (attempt) => attempt.fail(new Error("from below"), true));
  return only(call, "failed").stoppedBy?.reason;
}

/** How many of so many calls get a substitute that hangs. */
export function substitutesAtOnce(calls: number): number {
  const lab = new Lab();
  let substitutes = 0;
  const run = (): void => void substitutes++;
  const stack = lab.stack([fallback({ run })]);
  for (let i = 0; i < calls; i++)
    lab.start(stack, (attempt) => {
      if (attempt.kind === "fallback") run();
      else attempt.fail(fault("transient"));
    });
  return substitutes;
}
