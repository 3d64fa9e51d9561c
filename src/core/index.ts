/** The core: guards, machines and driver, without promises, clocks or timers of their own. */
export type { AbortTarget } from "./abort.ts";
export { AdaptiveThrottleGuard, adaptiveThrottle } from "./adaptive-throttle/guard.ts";
export { AdaptiveThrottle, type AdaptiveThrottleOptions } from "./adaptive-throttle/machine.ts";
export { Admission, EXPIRED, type Plan } from "./admission.ts";
export type { Admitter, Asking, Holds, Permit } from "./admitter.ts";
export { Attempt } from "./attempt.ts";
export {
  type AwsBackoffOptions,
  awsBackoff,
  Backoff,
  type BackoffFunction,
  type BackoffOption,
  type BackoffSpec,
  constant,
  decorrelatedJitter,
  envoyBackoff,
  equalJitter,
  exponential,
  fullJitter,
  type GrowthOptions,
  type GrpcBackoffOptions,
  grpcBackoff,
  immediately,
  spread,
} from "./backoff/machine.ts";
export { BreakerGuard, breaker, KeyedBreakers } from "./breaker/guard.ts";
export {
  type BreakerSnapshot,
  type BreakerState,
  CircuitBreaker,
  type Closed,
  type Probe,
  type Verdict,
} from "./breaker/machine.ts";
export {
  BREAKER_MODES,
  type BreakerMode,
  type BreakerOptions,
  BreakerPolicy,
  fixed,
  growing,
  jittered,
  type ReopenOptions,
} from "./breaker/options.ts";
export { CountWindow, TimeWindow, type Window } from "./breaker/window.ts";
export { Budget, type RepeatKind, Token } from "./budget/budget.ts";
export { type BudgetOptions, RetryBudget } from "./budget/machine.ts";
export {
  type AwsQuotaOptions,
  awsQuota,
  type BudgetSpec,
  budgetOf,
  type ConcurrencyShareOptions,
  concurrencyShare,
  type GrpcThrottleOptions,
  grpcThrottle,
  type WindowShareOptions,
  windowShare,
} from "./budget/presets.ts";
export { Bulkhead, type BulkheadOptions, bulkhead } from "./bulkhead/guard.ts";
export { KeyedBulkheads } from "./bulkhead/keyed.ts";
export { Gate, type GateState } from "./bulkhead/machine.ts";
export {
  type AttemptKind,
  Call,
  type CallFields,
  type Cancelled,
  type Criticality,
  degraded,
  type Effect,
  type Exit,
  type Failed,
  type FailureClass,
  failed,
  type Ok,
  type OperationSpec,
  type Outcome,
  ok,
  PLAIN_CALL,
  type Pushback,
  type Rejected,
  rejected,
} from "./call.ts";
export { AWS_THROTTLING, AWS_TRANSIENT, awsMeaning, judgeAws } from "./classifiers/aws.ts";
export { GRPC_STATUS, grpcMeaning, grpcPushback, judgeGrpc } from "./classifiers/grpc.ts";
export type { Meaning } from "./classifiers/meaning.ts";
export { judgeRedis, REDIS_REPLY, redisMeaning } from "./classifiers/redis.ts";
export { type Soundness, validating } from "./classifiers/validating.ts";
export { type ClassifiedError, classify, FAILURE } from "./classify.ts";
export { CoalesceGuard, coalesce } from "./coalesce/guard.ts";
export { type CoalesceOptions, CoalescePolicy } from "./coalesce/machine.ts";
export {
  type AimdOptions,
  aimd,
  type ConcurrencyLimit,
  concurrencyLimit,
  type LatencyAimdOptions,
  type LimitBoundsOptions,
  type LimitSpec,
  latencyAimd,
} from "./concurrency-limit/machine.ts";
export { DeadlineGuard, deadline } from "./deadline/guard.ts";
export {
  attemptOf,
  Fiber,
  GeneratedCall,
  type Next,
  type Sequence,
  Sleep,
  type Step,
  type Steps,
  scopeOf,
} from "./driver.ts";
export {
  CancelledError,
  type ErrorCode,
  OptionError,
  PlimsollError,
  RefusedError,
  TimeoutError,
  UnsoundReplyError,
} from "./errors.ts";
export {
  type BreakerStateName,
  callEvent,
  EVENTS_VERSION,
  type EventBase,
  type EventBody,
  guardEvent,
  type PlimsollEvent,
} from "./events.ts";
export { type Ending, EVIDENCE, type Evidence, endingOf, evidenceOf, HEDGE_LOST } from "./evidence.ts";
export { FallbackGuard, fallback } from "./fallback/guard.ts";
export {
  type DefaultFallback,
  defaultValue,
  type ElsewhereFallback,
  elsewhere,
  type FallbackCommonOptions,
  type FallbackFunction,
  type FallbackOption,
  type FallbackOptions,
  type FallbackSpec,
  type NotExecuted,
  notExecuted,
  type StaleOptions,
  stale,
} from "./fallback/options.ts";
export {
  type GrpcMethodOptions,
  type GrpcServiceGuards,
  grpcPreviousAttempts,
  grpcServiceConfig,
} from "./grpc/service-config.ts";
export { HedgeGuard, hedge } from "./hedge/guard.ts";
export { type HedgeOptions, HedgePolicy, type LiveDelayOptions } from "./hedge/machine.ts";
export { Keyed, type KeyedOptions } from "./keyed/machine.ts";
export { PerKey, type PerKeyOptions } from "./keyed/per-key.ts";
export { LatencyWindow } from "./latency/machine.ts";
export type { Judge, Leaf, Result } from "./leaf.ts";
export { Loop, type Task } from "./loop.ts";
export {
  checkFunction,
  checkKeys,
  checkMs,
  checkNumber,
  checkObject,
  checkOneOf,
  type Range,
} from "./options.ts";
export { PartialBreakerGuard, partialBreaker } from "./partial-breaker/guard.ts";
export { PartialBreaker, type PartialBreakerOptions } from "./partial-breaker/machine.ts";
export { nextDue, stableOffset } from "./periodic/machine.ts";
export { DependencyPolicy, OperationPolicy } from "./policy.ts";
export type { DependencyOptions, OperationOptions } from "./policy-options.ts";
export { type Answer, CallProcess, type Process } from "./progress.ts";
export { AdmissionQueue, type Entry, type QueueOptions } from "./queue/machine.ts";
export { hash32, type Random, SeededRandom } from "./random.ts";
export { KeyedRateLimits, RateLimit, type RateLimitOptions, rateLimit } from "./rate-limit/guard.ts";
export { type RateOptions, TokenBucket } from "./rate-limit/machine.ts";
export { RetryGuard, retry } from "./retry/guard.ts";
export { type Again, type RetryOptions, RetryPolicy } from "./retry/machine.ts";
export { type Room, Wait } from "./room.ts";
export { Run } from "./run.ts";
export { type Context, type EventSink, MAX_TIMER_MS, Runtime, Timer } from "./runtime.ts";
export { type Share, ShareGuard } from "./share.ts";
export {
  type Binding,
  type Guard,
  type Layer,
  type Perform,
  Stack,
  type StackOptions,
} from "./stack.ts";
export { AttemptTimeout, timeout } from "./timeout/guard.ts";
export { type AttemptState, WorkView } from "./work-view.ts";
