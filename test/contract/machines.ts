// What may be shared between the stacks of a program, by chance: caps, breakers, quotas and budgets.
import type { BudgetSpec } from "../../src/core/index.ts";
import type { Dice } from "./dice.ts";
import type { BreakerSpec, BulkheadSpec, LearningSpec, RateSpec } from "./program.ts";

export function someBulkhead(dice: Dice): BulkheadSpec {
  const counted = dice.chance(0.3);
  return {
    limit: dice.chance(0.25) ? learning(dice) : 1 + dice.int(3),
    maxBytes: counted ? 2 + dice.int(4) : null,
    maxWaiting: dice.pick(0, 1, 2, 5),
    maxWaitMs: dice.pick(0, 3, 10, 40),
    maxWaitingBytes: counted && dice.chance(0.5) ? 1 + dice.int(4) : null,
    reclaimMs: dice.maybe(0.2, () => 1 + dice.int(20)),
    holds: dice.chance(0.3) ? "handler" : "subtree",
  };
}

function learning(dice: Dice): LearningSpec {
  const min = 1 + dice.int(2);
  const max = min + dice.int(4);
  return { kind: dice.pick("aimd", "latencyAimd"), initial: min + dice.int(max - min + 1), min, max };
}

export function someBreaker(dice: Dice): BreakerSpec {
  const calls = 1 + dice.int(4);
  const probeTimeoutMs = dice.maybe(0.4, () => 1 + dice.int(10));
  return {
    window: dice.chance(0.7) ? { calls } : { ms: 10 + dice.int(40) },
    minimumCalls: 1 + dice.int(calls),
    failureRate: dice.pick(0.1, 0.5, 1),
    slowCallMs: dice.maybe(0.3, () => 1 + dice.int(20)),
    consecutiveFailures: dice.maybe(0.3, () => 1 + dice.int(3)),
    openMs: 1 + dice.int(20),
    rampMs: dice.chance(0.3) ? 1 + dice.int(30) : 0,
    probes: 1 + dice.int(2),
    probeTimeoutMs,
    probeLeaseMs: Math.max(probeTimeoutMs ?? 1, 5 + dice.int(30)),
  };
}

export function someRate(dice: Dice): RateSpec {
  const costly = dice.chance(0.3);
  return {
    limit: 1 + dice.int(4),
    windowMs: dice.pick(5, 20, 60),
    burst: (costly ? 2 : 1) + dice.int(3),
    costly,
  };
}

export function someBudget(dice: Dice): BudgetSpec {
  const kind = dice.pick("ratio", "ratio", "grpc", "aws", "concurrencyShare", "windowShare");
  if (kind === "grpc") return { kind, maxTokens: 1 + dice.int(6), tokenRatio: dice.pick(0.1, 0.5, 1) };
  if (kind === "aws") return { kind, version: dice.pick("2.1", "legacy") };
  if (kind === "concurrencyShare") return { kind, share: dice.pick(0, 0.2, 0.5, 1), min: dice.int(3) };
  if (kind === "windowShare") {
    const windowMs = dice.pick(20, 10_000);
    return { kind, ratio: dice.pick(0, 0.2, 1), perSecond: (1000 / windowMs) * dice.int(4), windowMs };
  }
  return { ratio: dice.pick(0, 0.1, 0.5, 1), burst: dice.int(5) };
}
