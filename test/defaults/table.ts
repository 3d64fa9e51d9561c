// Every default of every option, in one table. Change a default in src/core and its row fails. If the change is meant,
// change the row, the docstring, the page in docs/guards and CHANGELOG.md with it; test/docs holds the pages to it.
import {
  AdaptiveThrottle,
  AdmissionQueue,
  awsBackoff,
  awsQuota,
  BreakerPolicy,
  Bulkhead,
  budgetOf,
  CoalescePolicy,
  concurrencyShare,
  exponential,
  HedgePolicy,
  hedge,
  jittered,
  Keyed,
  PartialBreaker,
  RateLimit,
  RetryBudget,
  RetryPolicy,
  stale,
  TokenBucket,
  windowShare,
} from "../../src/core/index.ts";
import { type Dependency, dependency } from "../../src/facade/index.ts";
import { FaultPlan } from "../../src/testing/fault-plan.ts";
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
/** Which of 20 attempts are hit. */
const drawnBy = (name?: string): boolean[] => {
  const rates = [{ fault: "error", rate: 0.5 }] as const;
  const plan = new FaultPlan(name === undefined ? { rates } : { rates, name });
  const { random } = new VirtualRuntime();
  return Array.from({ length: 20 }, () => plan.next(random) !== null);
};

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
  row("DependencyOptions.rateLimit", "none", null, () => stock().rateLimit),
  row("DependencyOptions.adaptiveThrottle", "none", null, () => stock().adaptiveThrottle),
  row("OperationOptions.idempotent", "false", 1, () => seen.attemptsOf({ retry: {} })),
  row("OperationOptions.attemptTimeoutMs", "none", Infinity, () => seen.attemptOf().timeoutMs),
  row("OperationOptions.totalTimeoutMs", "none", Infinity, () => seen.attemptOf().deadline),
  row("OperationOptions.minUsefulMs", "0", 0, () => seen.attemptOf().leaf.minUsefulMs),
  row("OperationOptions.coalesce", "none", 2, () => seen.sentByTwo({ idempotent: true })),
  row("OperationOptions.retry", "none", 1, () => seen.attemptsOf({ idempotent: true })),
  row("OperationOptions.breaker", "none", [null, null], () => {
    const { breaker: one, breakers } = seen.operationOf();
    return [one, breakers];
  }),
  row("OperationOptions.rateLimit", "none", [], () => seen.attemptOf().leaf.run.admitters),
  row("OperationOptions.adaptiveThrottle", "none", [], () => seen.attemptOf().leaf.run.admitters),
  row("OperationOptions.bulkhead", "none", [], () => seen.attemptOf().leaf.run.admitters),
  row("OperationOptions.hedge", "none", null, () => seen.attemptOf().leaf.budget),
  row("OperationOptions.fallback", "none", "failed", () => seen.failureOf({})),
  row("OperationOptions.decides", "nothing of the kind", "accepted", () =>
    seen.missed(() => seen.operationOf({ fallback: () => 1 })),
  ),
  row("OperationOptions.classify", "the library's own", null, () => seen.attemptOf().leaf.judge),

  // retry and backoff
  row("RetryOptions.attempts", "3", 3, () => new RetryPolicy({}, null, 0).attempts),
  row("RetryOptions.backoff", "fullJitter()", [25, 50, 10_000], () => seen.waits()),
  row("RetryOptions.nested", "refuse", "tried again further down", seen.nestedRetry),
  row("RetryOptions.only", "all failures that may be repeated", 3, () =>
    seen.attemptsOf({ idempotent: true, retry: {} }),
  ),
  row("GrowthOptions.baseMs", "50", 50, () => seen.waits(exponential())[0]),
  row("GrowthOptions.capMs", "20,000", 20_000, () => seen.waits(exponential())[2]),
  row("GrowthOptions.factor", "2", 2, () => (seen.waits(exponential())[1] ?? 0) / 50),
  row("GrpcBackoffOptions.initialBackoffMs", "none", GIVEN, () => seen.grpcWithout("initialBackoffMs")),
  row("GrpcBackoffOptions.maxBackoffMs", "none", GIVEN, () => seen.grpcWithout("maxBackoffMs")),
  row("GrpcBackoffOptions.backoffMultiplier", "none", GIVEN, () => seen.grpcWithout("backoffMultiplier")),
  row("AwsBackoffOptions.baseMs", "50", 25, () => seen.waits(awsBackoff())[0]),
  row("AwsBackoffOptions.throttlingBaseMs", "1,000", 500, () => seen.throttledWaits(awsBackoff())[0]),
  row("AwsBackoffOptions.capMs", "20,000", [10_000, 10_000], () => [
    seen.waits(awsBackoff())[2],
    seen.throttledWaits(awsBackoff())[2],
  ]),

  // budget
  row("BudgetOptions.ratio", "0.1", 0.1, () => new RetryBudget().ratio),
  row("BudgetOptions.burst", "10", 10, () => new RetryBudget().burst),
  row("GrpcThrottleOptions.maxTokens", "none", GIVEN, () => seen.grpcThrottleWithout("maxTokens")),
  row("GrpcThrottleOptions.tokenRatio", "none", GIVEN, () => seen.grpcThrottleWithout("tokenRatio")),
  row("AwsQuotaOptions.version", "2.1", [14, 14, 5], () =>
    [seen.failure("transient"), seen.failure("transient", "timeout"), seen.failure("throttling")].map(
      (because) => seen.costOf(budgetOf(awsQuota()), because),
    ),
  ),
  row("ConcurrencyShareOptions.share", "0.2", 4, () => seen.repeatsWhile(budgetOf(concurrencyShare()), 20)),
  row("ConcurrencyShareOptions.min", "3", 3, () => seen.repeatsWhile(budgetOf(concurrencyShare()), 0)),
  row("WindowShareOptions.ratio", "0.2", 20, () =>
    seen.repeatsWhile(budgetOf(windowShare({ perSecond: 0 })), 100),
  ),
  row("WindowShareOptions.perSecond", "10", 100, () => seen.repeatsWhile(budgetOf(windowShare()), 0)),
  row("WindowShareOptions.windowMs", "10,000", [20, 0], () => {
    const within = (ms: number) => seen.repeatsWhile(budgetOf(windowShare({ perSecond: 0 })), 100, ms);
    return [within(9_000), within(10_001)];
  }),

  // hedge
  row("HedgeOptions.delayMs", "none", GIVEN, () => seen.missed(() => new Lab().stack([hedge({} as never)]))),
  row("HedgeOptions.attempts", "2", 2, () => new HedgePolicy({ delayMs: 10 }).attempts),
  row("HedgeOptions.tied", "false", false, () => new HedgePolicy({ delayMs: 1 }).tied),
  row("HedgeOptions.quietMs", "1,000", [true, false], () => {
    const policy = new HedgePolicy({ delayMs: 10 });
    policy.overloaded(seen.failure("throttling"), 0);
    return [policy.isQuiet(999), policy.isQuiet(1_000)];
  }),
  row("HedgeOptions.onFailure", "stop", [Infinity, false], () => {
    const policy = new HedgePolicy({ delayMs: 10 });
    return [policy.afterFailureMs(seen.failure("transient")), policy.isFinal(seen.failure("permanent"))];
  }),
  row("LiveDelayOptions.percentile", "0.95", true, () => seen.liveDelay({}, 1_000) === seen.bucketOf(950)),
  row("LiveDelayOptions.windowMs", "60,000", [true, false], () => [
    seen.liveDelay({}, 1_000, 59_000) < Infinity,
    seen.liveDelay({}, 1_000, 60_000) < Infinity,
  ]),
  row("LiveDelayOptions.minSamples", "100", [Infinity, true], () => [
    seen.liveDelay({}, 99),
    seen.liveDelay({}, 100) < Infinity,
  ]),
  row("LiveDelayOptions.minMs", "1", 1, () => seen.liveDelay({ percentile: 0.5 }, 1_000, 0, 0)),

  // coalescing
  row("CoalesceOptions.maxWaiting", "10,000", 10_000, () => new CoalescePolicy().maxWaiting),
  row("CoalesceOptions.maxFlights", "10,000", 10_000, () => new CoalescePolicy().maxFlights),
  row("CoalesceOptions.shareFailuresMs", "0", null, () => {
    const policy = new CoalescePolicy();
    policy.remember("k", seen.failure("transient"), 0);
    return policy.remembered("k", 0);
  }),

  // breaker
  row("BreakerOptions.window", "{ calls: 100 }", 100, seen.remembered),
  row("BreakerOptions.minimumCalls", "a full count window; 20 for a time window", [100, 7, 20], () => [
    breaker.minimumCalls,
    new BreakerPolicy({ window: { calls: 7 } }).minimumCalls,
    new BreakerPolicy({ window: { ms: 1_000 } }).minimumCalls,
  ]),
  row("BreakerOptions.failureRate", "0.5", 0.5, () => breaker.failureRate),
  row("BreakerOptions.slowCallMs", "no call is slow", [Infinity, null], () => [
    breaker.slowCallMs,
    breaker.newPeriod(0).slow,
  ]),
  row("BreakerOptions.slowCallRate", "1", 1, () => breaker.slowCallRate),
  row(
    "BreakerOptions.consecutiveFailures",
    "the window alone decides",
    Infinity,
    () => breaker.consecutiveFailures,
  ),
  row("BreakerOptions.openMs", "5,000", 5_000, () => breaker.openMs),
  row("BreakerOptions.reopen", "growing(), jittered", [5_000, 10_000, 12_000], () => [
    breaker.openForMs(1, 0),
    breaker.openForMs(2, 0),
    breaker.openForMs(2, 1),
  ]),
  row("BreakerOptions.probes", "3", 3, () => breaker.probes),
  row("BreakerOptions.rampMs", "0", 0, () => breaker.rampMs),
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
  row("KeyedOptions.maxKeys", "10,000", 10_000, () => new Keyed(() => 1, {}, "keys").maxKeys),
  row("KeyedOptions.idleMs", "600,000", 600_000, () => new Keyed(() => 1, {}, "keys").idleMs),
  row("PerKeyOptions.by", "key", ["open", null], seen.keyedBy),

  // bulkhead and its queue
  row("BulkheadOptions.limit", "none", GIVEN, () =>
    seen.missed(() => new Bulkhead({} as never, new VirtualRuntime())),
  ),
  row("BulkheadOptions.maxBytes", "Infinity", null, () =>
    seen.onePlace().check({ call: { bytes: 1e15 } } as never),
  ),
  row("LimitBoundsOptions.initial", "20", [20, 7, 30], () => [
    seen.learningLimit().limit,
    seen.learningLimit({ max: 7 }).limit,
    seen.learningLimit({ min: 30 }).limit,
  ]),
  row("LimitBoundsOptions.min", "1", 1, () => seen.cutTimes(1_000)),
  row("LimitBoundsOptions.max", "200", 200, seen.grownFor),
  row("AimdOptions.cut", "0.9", 90, () => seen.cutTimes(1, { initial: 100 })),
  row("LatencyAimdOptions.cut", "0.8", 80, () => seen.afterOverload({ initial: 100 })),
  row("LatencyAimdOptions.intervalMs", "1,000", [100, 80], () => [
    seen.afterOverload({ initial: 100 }, 999),
    seen.afterOverload({ initial: 100 }, 1_000),
  ]),
  row("LatencyAimdOptions.minSamples", "20", [20, 21], () => [
    seen.afterInterval(10, {}, 19),
    seen.afterInterval(10, {}, 20),
  ]),
  row("LatencyAimdOptions.low", "1.5", [21, 20], () => [seen.afterInterval(14.9), seen.afterInterval(15)]),
  row("LatencyAimdOptions.high", "2", [20, 16], () => [seen.afterInterval(20), seen.afterInterval(20.1)]),
  row("LatencyAimdOptions.baselineMs", "learned", 21, () =>
    seen.afterInterval(100, { baselineMs: undefined as never }),
  ),
  row("BulkheadOptions.queue", "nobody", false, () => seen.onePlace().queues),
  row(
    "BulkheadOptions.reclaimAbandonedAfterMs",
    "Infinity",
    Infinity,
    () => seen.onePlace().reclaimAbandonedAfterMs,
  ),
  row("BulkheadOptions.holds", "subtree", "subtree", () => seen.onePlace().holds),
  row("QueueOptions.maxWaiting", "0", 0, seen.mayWait),
  row("QueueOptions.maxWaitMs", "1,000", 1_000, seen.waitEndsAt),
  row("QueueOptions.maxBytes", "Infinity", Infinity, () => new AdmissionQueue().maxBytes),

  // rate limit and throttle
  row("RateOptions.limit", "none", GIVEN, () => seen.missed(() => new TokenBucket({} as never))),
  row("RateOptions.windowMs", "1,000", 100, () => new TokenBucket({ limit: 10 }).intervalMs),
  row("RateOptions.burst", "limit", 7, () => new TokenBucket({ limit: 7 }).burst),
  row("RateLimitOptions.cost", "1 for every call", 6, () => {
    const quota = new RateLimit({ limit: 7 });
    quota.take({ call: { bytes: 5 } } as never, 0);
    return quota.bucket.level(0);
  }),
  row("AdaptiveThrottleOptions.k", "2", 2, () => new AdaptiveThrottle({}, 0).k),
  row("AdaptiveThrottleOptions.windowMs", "120,000", [1, 0], () => {
    const throttle = new AdaptiveThrottle({}, 0);
    throttle.record(false, 0);
    return [throttle.requests(119_999), throttle.requests(120_000)];
  }),
  row("AdaptiveThrottleOptions.maxRefused", "0.95", 0.95, () => new AdaptiveThrottle({}, 0).maxRefused),
  row("AdaptiveThrottleOptions.rejects", "overload", "overload", () => new AdaptiveThrottle({}, 0).rejects),

  row("OperationOptions.partialBreaker", "none", [], () => seen.attemptOf().leaf.run.admitters),
  row("PartialBreakerOptions.usualFailureRate", "0.01", [0, 0.005], () => seen.partialShares([1, 2])),
  row("PartialBreakerOptions.intervalMs", "1,000", [0, 0.495], () => [
    seen.partialShare(999),
    seen.partialShare(1_000),
  ]),
  row("PartialBreakerOptions.rise", "0.5", 0.495, () => seen.partialShare(1_000)),
  row("PartialBreakerOptions.fall", "0.1", 0.889, seen.partialFall),
  row("PartialBreakerOptions.maxRefused", "0.99", 0.99, () => new PartialBreaker({}, 0).maxRefused),

  // fallback
  row("FallbackOptions.run", "none", GIVEN, () =>
    seen.missed(() => seen.operationOf({ fallback: {} as never })),
  ),
  row("FallbackCommonOptions.reserveMs", "0", 50, () => seen.fallbackTimes().primary),
  row("FallbackCommonOptions.timeoutMs", "reserveMs, or 100 without one", [50 + 100, 50 - 30 + 30], () => [
    seen.fallbackTimes().both,
    seen.fallbackTimes({ reserveMs: 30 }).both,
  ]),
  row("FallbackCommonOptions.limit", "Infinity", 1_000, () => seen.substitutesAtOnce(1_000)),
  row("FallbackCommonOptions.permanent", "false", "failed", seen.permanentFailure),
  row("FallbackCommonOptions.exercise", "0", 0, seen.exercised),
  row("StaleOptions.maxAgeMs", "none", GIVEN, () =>
    seen.missed(() => seen.operationOf({ fallback: stale({} as never) })),
  ),
  row("StaleOptions.maxKeys", "1,000", 1_000, seen.staleKeys),

  // Stack, for orders of your own
  row("StackOptions.idempotent", "false", 1, seen.bareAttempts),
  row("StackOptions.budget", "none is kept", null, () => seen.bareStack().leaf.budget),
  row("StackOptions.minUsefulMs", "0", "ok", seen.withLittleTime),
  row("StackOptions.judge", "the library's own", null, () => seen.bareStack().leaf.judge),
  row("StackOptions.generators", "false", "FusedCall", seen.pathTaken),

  // calls, time limits and checkpoints
  row("CallOptions.key", "nothing in particular", "", () => seen.attemptOf().call.key),
  row("CallOptions.bytes", "0", 0, () => seen.attemptOf().call.bytes),
  row("TimeLimitOptions.name", "request", "request", () => seen.limit().name),
  row("SliceOptions.ms", "all that is left, less reserveMs", [900, 800], () => [
    seen.limit().slice("part").timeLeftMs,
    seen.limit().slice("part", { reserveMs: 100 }).timeLeftMs,
  ]),
  row("SliceOptions.reserveMs", "0", 900, () => seen.limit().slice("part", { ms: 900 }).timeLeftMs),
  row("SliceOptions.minMs", "0", "accepted", () => seen.missed(() => seen.limit(1).slice("part", { ms: 1 }))),
  row("CheckpointOptions.everyMs", "5", [undefined, true], seen.checkpoints),

  // plimsoll/testing
  row("VirtualRuntimeOptions.seed", "1", 1, () => new VirtualRuntime().seed),
  row("VirtualRuntimeOptions.startAtMs", "0", 0, () => new VirtualRuntime().now()),
  row("FaultPlanOptions.rates", "none", GIVEN, () => seen.missed(() => new FaultPlan({}))),
  row("FaultPlanOptions.script", "none", GIVEN, () => seen.missed(() => new FaultPlan({}))),
  row("FaultPlanOptions.name", "faults", drawnBy("faults"), () => drawnBy()),
];
