// Where a default shows: what guards do when an option is left out.
import {
  AdmissionQueue,
  type Attempt,
  Backoff,
  type BackoffOption,
  BreakerPolicy,
  Bulkhead,
  type BulkheadOptions,
  bulkhead,
  DependencyPolicy,
  type FallbackOptions,
  fallback,
  type Guard,
  growing,
  immediately,
  type OperationOptions,
  type Perform,
  PLAIN_CALL,
  type ReopenOptions,
  retry,
  Stack,
} from "../../src/core/index.ts";
import { type CallOptions, dependency, type Operation, performPromise } from "../../src/facade/index.ts";
import { VirtualRuntime } from "../../src/testing/index.ts";
import { fault, Lab } from "../lib/lab.ts";

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
export function fallbackTimes(options: Omit<FallbackOptions, "run"> = {}): { primary: number; both: number } {
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
