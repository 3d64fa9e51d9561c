// The ranges that the pages state, tried at their ends against the checks of the options.
import {
  AdaptiveThrottle,
  AdmissionQueue,
  Backoff,
  BreakerPolicy,
  Bulkhead,
  budgetOf,
  CoalescePolicy,
  concurrencyLimit,
  grpcBackoff,
  HedgePolicy,
  Keyed,
  PartialBreaker,
  RetryBudget,
  RetryPolicy,
  stale,
  TokenBucket,
} from "../../src/core/index.ts";
import { dependency, every, shield, TimeLimit, timeLimit } from "../../src/facade/index.ts";
import { checkpoint } from "../../src/index.node.ts";
import { VirtualRuntime } from "../../src/testing/index.ts";

type Field = Readonly<Record<string, number>>;

const runtime = new VirtualRuntime();
const operation = (options: object): unknown =>
  dependency({ name: "stock" }, runtime).operation("view", { idempotent: true, ...options });

/** Makes the guard that an option belongs to. */
const make: Readonly<Record<string, (field: Field) => unknown>> = {
  OperationOptions: operation,
  RetryOptions: (field) => new RetryPolicy(field, null, 0),
  GrowthOptions: (field) => new Backoff({ kind: "fullJitter", ...field }),
  BudgetOptions: (field) => new RetryBudget(field),
  HedgeOptions: (field) => operation({ hedge: { delayMs: 10, ...field } }),
  LiveDelayOptions: (field) => new HedgePolicy({ delayMs: field }),
  BreakerOptions: (field) => new BreakerPolicy(field),
  ReopenOptions: (field) => new BreakerPolicy({ reopen: { kind: "growing", ...field } }),
  BulkheadOptions: (field) => new Bulkhead({ limit: 1, ...field }, runtime),
  QueueOptions: (field) => new AdmissionQueue(field),
  LimitBoundsOptions: (field) => concurrencyLimit({ kind: "aimd", ...field }, () => 0.5),
  AimdOptions: (field) => concurrencyLimit({ kind: "aimd", ...field }, () => 0.5),
  LatencyAimdOptions: (field) => concurrencyLimit({ kind: "latencyAimd", ...field }, () => 0.5),
  KeyedOptions: (field) => new Keyed(() => 1, field, "keys"),
  GrpcBackoffOptions: (field) =>
    grpcBackoff({ initialBackoffMs: 1, maxBackoffMs: 2 ** 31 - 1, backoffMultiplier: 2, ...field }),
  AwsBackoffOptions: (field) => new Backoff({ kind: "aws", ...field }),
  GrpcThrottleOptions: (field) => budgetOf({ kind: "grpc", maxTokens: 10, tokenRatio: 0.1, ...field }),
  ConcurrencyShareOptions: (field) => budgetOf({ kind: "concurrencyShare", ...field }),
  WindowShareOptions: (field) => budgetOf({ kind: "windowShare", ...field }),
  CoalesceOptions: (field) => new CoalescePolicy(field),
  RateOptions: (field) => new TokenBucket({ limit: 1, ...field }),
  PartialBreakerOptions: (field) => new PartialBreaker(field, 0),
  AdaptiveThrottleOptions: (field) => new AdaptiveThrottle(field, 0),
  StaleOptions: (field) => operation({ fallback: stale({ maxAgeMs: 1_000, ...field }) }),
  TimeLimitOptions: (field) => timeLimit({ ms: 1_000, ...field }, runtime),
  SliceOptions: (field) => new TimeLimit("whole", Infinity, runtime).slice("part", field),
  ShieldOptions: (field) =>
    shield({ name: "commit", limit: 1, timeoutMs: 1_000, reconcile: () => undefined, ...field }, runtime),
  EveryOptions: (field) =>
    every({ periodMs: 1_000, id: "host-1", ...field }, () => undefined, runtime).stop(),
  CheckpointOptions: (field) => checkpoint(new AbortController().signal, field),
  FallbackCommonOptions: (field) => operation({ fallback: { run: () => null, ...field } }),
};

const RANGE =
  /^(?<above>above )?(?<low>[\d,]+)(?:(?:,? to |, at most )(?<high>2\^31 − 1|\d[\d,]*\d|\d)| or more)(?<whole>, whole)?(?:, in steps of \S+)?(?<infinity>, or Infinity)?$/;

const numberOf = (text: string): number =>
  text === "2^31 − 1" ? 2 ** 31 - 1 : Number(text.replaceAll(",", ""));

/** The ends of a range: what must be accepted, and what must not. Null for a range that is no pair of numbers. */
export function endsOf(range: string): { readonly accepted: number[]; readonly refused: number[] } | null {
  const found = RANGE.exec(range)?.groups;
  if (found === undefined) return null;
  const low = numberOf(found.low ?? "");
  const accepted = [found.above === undefined ? low : low + 0.001];
  const refused = [found.above === undefined ? low - 0.001 : low, Number.NaN, -1];
  if (found.high !== undefined) {
    accepted.push(numberOf(found.high));
    refused.push(numberOf(found.high) + 1);
  }
  if (found.whole !== undefined) refused.push(low + 0.5);
  (found.infinity === undefined ? refused : accepted).push(Infinity);
  return { accepted, refused };
}

/** What the code makes of an option's range: a list of disagreements. Null where there is nothing to try. */
export function disagreements(name: string, field: string, range: string): string[] | null {
  const ends = endsOf(range);
  const attempt = make[name];
  if (ends === null || attempt === undefined) return null;
  const takes = (value: number): boolean => {
    try {
      attempt({ [field]: value });
      return true;
    } catch {
      return false;
    }
  };
  return [
    ...ends.accepted.filter((value) => !takes(value)).map((value) => `${field}: ${value} is refused`),
    ...ends.refused.filter(takes).map((value) => `${field}: ${value} is accepted`),
  ];
}
