// Every default of every option, in one table. Change a default in src/core and its row fails. If the change is meant,
// change the row, the docstring, the page in docs/guards and CHANGELOG.md with it; test/docs holds the pages to it.
import {
  AdmissionQueue,
  BreakerPolicy,
  Bulkhead,
  exponential,
  hedge,
  jittered,
  RetryBudget,
  RetryPolicy,
} from "../../src/core/index.ts";
import { type Dependency, dependency } from "../../src/facade/index.ts";
import { VirtualRuntime } from "../../src/testing/index.ts";
import { Lab } from "../lib/lab.ts";
import * as seen from "./observe.ts";

/** One option. */
export interface Default {
  /** The interface and the field. */
  readonly option: string;
  /** As the docs say it; "none" for an option that must be given, and for a guard that is not there if left out. */
  readonly docs: string;
  /** What is pinned. */
  readonly is: unknown;
  /** What the code does when the option is left out. */
  shown(): unknown;
}

const row = (option: string, docs: string, is: unknown, shown: () => unknown): Default => ({
  option,
  docs,
  is,
  shown,
});

const GIVEN = "OptionError";
const stock = (): Dependency => dependency({ name: "stock" }, new VirtualRuntime());
const breaker = new BreakerPolicy({});

/** The table. */
export const DEFAULTS: readonly Default[] = [
  // dependency() and operation()
  row("DependencyOptions.name", "none", GIVEN, () =>
    seen.missed(() => dependency({} as never, new VirtualRuntime())),
  ),
  row("DependencyOptions.bulkhead", "no cap", null, () => stock().bulkhead),
  row("DependencyOptions.budget", "{}", [0.1, 10], () => {
    const { ratio, burst } = stock().budget as RetryBudget;
    return [ratio, burst];
  }),
  row("OperationOptions.idempotent", "false", 1, () => seen.attemptsOf({ retry: {} })),
  row("OperationOptions.attemptTimeoutMs", "none", Infinity, () => seen.attemptOf().timeoutMs),
  row("OperationOptions.totalTimeoutMs", "none", Infinity, () => seen.attemptOf().deadline),
  row("OperationOptions.minUsefulMs", "0", 0, () => seen.attemptOf().leaf.minUsefulMs),
  row("OperationOptions.retry", "none", 1, () => seen.attemptsOf({ idempotent: true })),
  row("OperationOptions.breaker", "none", null, () => seen.operationOf().breaker),
  row("OperationOptions.bulkhead", "none", [], () => seen.attemptOf().leaf.run.admitters),
  row("OperationOptions.hedge", "none", null, () => seen.attemptOf().leaf.budget),
  row("OperationOptions.fallback", "none", "failed", () => seen.failureOf({})),
  row("OperationOptions.classify", "the library's own", null, () => seen.attemptOf().leaf.judge),

  // retry and backoff
  row("RetryOptions.attempts", "3", 3, () => new RetryPolicy({}, null, 0).attempts),
  row("RetryOptions.backoff", "fullJitter()", [25, 50, 10_000], () => seen.waits()),
  row("RetryOptions.only", "all failures that may be repeated", 3, () =>
    seen.attemptsOf({ idempotent: true, retry: {} }),
  ),
  row("GrowthOptions.baseMs", "50", 50, () => seen.waits(exponential())[0]),
  row("GrowthOptions.capMs", "20,000", 20_000, () => seen.waits(exponential())[2]),
  row("GrowthOptions.factor", "2", 2, () => (seen.waits(exponential())[1] ?? 0) / 50),

  // budget
  row("BudgetOptions.ratio", "0.1", 0.1, () => new RetryBudget().ratio),
  row("BudgetOptions.burst", "10", 10, () => new RetryBudget().burst),

  // hedge
  row("HedgeOptions.delayMs", "none", GIVEN, () => seen.missed(() => new Lab().stack([hedge({} as never)]))),

  // breaker
  row("BreakerOptions.window", "{ calls: 100 }", 100, seen.remembered),
  row("BreakerOptions.minimumCalls", "a full count window; 20 for a time window", [100, 7, 20], () => [
    breaker.minimumCalls,
    new BreakerPolicy({ window: { calls: 7 } }).minimumCalls,
    new BreakerPolicy({ window: { ms: 1_000 } }).minimumCalls,
  ]),
  row("BreakerOptions.failureRate", "0.5", 0.5, () => breaker.failureRate),
  row("BreakerOptions.openMs", "5,000", 5_000, () => breaker.openMs),
  row("BreakerOptions.reopen", "growing(), jittered", [5_000, 10_000, 12_000], () => [
    breaker.openForMs(1, 0),
    breaker.openForMs(2, 0),
    breaker.openForMs(2, 1),
  ]),
  row("BreakerOptions.probes", "3", 3, () => breaker.probes),
  row("BreakerOptions.probeTimeoutMs", "the attempt timeout", undefined, () => breaker.probeTimeoutMs),
  row("BreakerOptions.probeLeaseMs", "openMs, at least probeTimeoutMs", [5_000, 700, 900], () => [
    breaker.probeLeaseMs,
    new BreakerPolicy({ openMs: 700 }).probeLeaseMs,
    new BreakerPolicy({ openMs: 700, probeTimeoutMs: 900 }).probeLeaseMs,
  ]),
  row("BreakerOptions.throttling", "failure", true, () => breaker.throttlingFails),
  row("BreakerOptions.localRefusals", "ignored", false, () => breaker.refusalsFail),
  row("BreakerOptions.mode", "enforce", "enforce", () => breaker.mode),
  row("ReopenOptions.kind", "none", GIVEN, () =>
    seen.missed(() => new BreakerPolicy({ reopen: {} as never })),
  ),
  row("ReopenOptions.jitter", "0.2", [1_200, 1_200], () => [
    seen.openForMs(1, 1, jittered()),
    seen.openForMs(1, 1),
  ]),
  row("ReopenOptions.factor", "2", 2_000, () => seen.openForMs(2, 0)),
  row("ReopenOptions.maxMs", "12 × openMs", 12_000, () => seen.openForMs(100, 0)),

  // bulkhead and its queue
  row("BulkheadOptions.limit", "none", GIVEN, () =>
    seen.missed(() => new Bulkhead({} as never, new VirtualRuntime())),
  ),
  row("BulkheadOptions.queue", "nobody", false, () => seen.onePlace().queues),
  row(
    "BulkheadOptions.reclaimAbandonedAfterMs",
    "Infinity",
    Infinity,
    () => seen.onePlace().reclaimAbandonedAfterMs,
  ),
  row("QueueOptions.maxWaiting", "0", 0, seen.mayWait),
  row("QueueOptions.maxWaitMs", "1,000", 1_000, seen.waitEndsAt),
  row("QueueOptions.maxBytes", "Infinity", Infinity, () => new AdmissionQueue().maxBytes),

  // fallback
  row("FallbackOptions.run", "none", GIVEN, () =>
    seen.missed(() => seen.operationOf({ fallback: {} as never })),
  ),
  row("FallbackOptions.reserveMs", "0", 50, () => seen.fallbackTimes().primary),
  row("FallbackOptions.timeoutMs", "reserveMs, or 100 without one", [50 + 100, 50 - 30 + 30], () => [
    seen.fallbackTimes().both,
    seen.fallbackTimes({ reserveMs: 30 }).both,
  ]),
  row("FallbackOptions.permanent", "false", "failed", seen.permanentFailure),

  // Stack, for orders of your own
  row("StackOptions.idempotent", "false", 1, seen.bareAttempts),
  row("StackOptions.budget", "none is kept", null, () => seen.bareStack().leaf.budget),
  row("StackOptions.minUsefulMs", "0", "ok", seen.withLittleTime),
  row("StackOptions.judge", "the library's own", null, () => seen.bareStack().leaf.judge),
  row("StackOptions.generators", "false", "FusedCall", seen.pathTaken),

  // plimsoll/testing
  row("VirtualRuntimeOptions.seed", "1", 1, () => new VirtualRuntime().seed),
  row("VirtualRuntimeOptions.startAtMs", "0", 0, () => new VirtualRuntime().now()),
];
