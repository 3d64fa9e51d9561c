/** What an explanation says of the guards that keep load away from a dependency: breakers, throttles, quotas and caps. */
import { BreakerPolicy } from "../core/breaker/options.ts";
import type { DependencyOptions, OperationOptions } from "../core/policy-options.ts";
import { percent, time } from "./words.ts";

/** A sentence or two for each of them, outermost first. */
export function loadSentences(
  shared: Omit<DependencyOptions, "name">,
  options: OperationOptions,
): readonly string[] {
  return [
    ...breakerSentences(options),
    ...(options.partialBreaker === undefined ? [] : [partialSentence(options.partialBreaker)]),
    ...[shared, options].flatMap(({ adaptiveThrottle, rateLimit, bulkhead }, index) => [
      ...(adaptiveThrottle === undefined ? [] : [throttleSentence(adaptiveThrottle)]),
      ...(rateLimit === undefined ? [] : [rateSentence(rateLimit)]),
      ...(bulkhead === undefined ? [] : [capSentence(bulkhead, index === 0)]),
    ]),
  ];
}

function breakerSentences({ breaker }: OperationOptions): string[] {
  if (breaker === undefined) return [];
  const { perKey, ...rest } = breaker;
  const policy = new BreakerPolicy(rest);
  const window =
    rest.window !== undefined && "ms" in rest.window
      ? `of the last ${time(rest.window.ms)}`
      : `of the last ${rest.window?.calls ?? 100} calls`;
  const rules = [`${percent(policy.failureRate)} ${window} failed (of ${policy.minimumCalls} at least)`];
  if (policy.slowCallMs < Infinity)
    rules.push(`${percent(policy.slowCallRate)} took ${time(policy.slowCallMs)} or longer`);
  if (policy.consecutiveFailures < Infinity) rules.push(`${policy.consecutiveFailures} failed in a row`);
  const whose = `The breaker${ofEach(perKey)}`;
  const first = Math.min(policy.consecutiveFailures, policy.minimumCalls);
  const ramp =
    policy.rampMs > 0 ? `, and lets everything through ${time(policy.rampMs)} after it has closed` : "";
  return [
    `${whose} opens when ${rules.join(", or ")}: after ${first} calls, when all fail.`,
    `It stays open for ${openFor(policy)}, then ${policy.probes} ${policy.probes === 1 ? "probe has" : "probes have"} to pass${ramp}.`,
  ];
}

function openFor(policy: BreakerPolicy): string {
  const [least, most, longest] = [policy.openForMs(1, 0), policy.openForMs(1, 1), policy.openForMs(1_000, 1)];
  if (longest === least) return time(least);
  const first = most === least ? time(least) : `${time(least)} to ${time(most)}`;
  return longest === most ? first : `${first} the first time and ${time(longest)} at most`;
}

function throttleSentence({
  k = 2,
  windowMs = 120_000,
  maxRefused = 0.95,
}: NonNullable<OperationOptions["adaptiveThrottle"]>): string {
  return `When the dependency refuses more than it accepts, about ${k} times what it accepted in the last ${time(windowMs)} is sent, and never less than ${percent(1 - maxRefused)}.`;
}

function partialSentence({
  usualFailureRate = 0.01,
  maxRefused = 0.99,
}: NonNullable<OperationOptions["partialBreaker"]>): string {
  return `When more than ${percent(usualFailureRate)} fail, a part of the calls is refused, the larger the more fail: ${percent(maxRefused)} at most.`;
}

function rateSentence({
  limit,
  windowMs = 1_000,
  burst = limit,
  perKey,
}: NonNullable<OperationOptions["rateLimit"]>): string {
  return `At most ${limit} per ${time(windowMs)} start${ofEach(perKey)}, ${burst} of them at once.`;
}

function ofEach(perKey: { readonly by?: string } | undefined): string {
  return perKey === undefined ? "" : ` of each ${perKey.by ?? "key"}`;
}

function capSentence(
  { limit, queue, maxBytes, perKey }: NonNullable<OperationOptions["bulkhead"]>,
  isShared: boolean,
): string {
  const whose = `${isShared ? "all operations together" : "this operation alone"}${perKey === undefined ? "" : ", and so for each of its keys"}`;
  const places =
    typeof limit === "number"
      ? `${limit} in flight`
      : `a number in flight that is learnt (${limit.min ?? 1} to ${limit.max ?? 200})`;
  const bytes = maxBytes === undefined ? "" : `, and ${maxBytes} bytes`;
  const waiting =
    queue === undefined || queue.maxWaiting === 0
      ? "nobody waits"
      : `${queue.maxWaiting ?? 0} more wait, each ${time(queue.maxWaitMs ?? 1_000)} at most`;
  return `At most ${places}${bytes}, for ${whose}; ${waiting}.`;
}
