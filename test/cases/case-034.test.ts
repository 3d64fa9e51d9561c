// Case 034: a budget's token was lost on an unusual exit. The rule for each: what is sent is spent, what is not is returned.
import { expect, it } from "vitest";
import {
  type Attempt,
  awsQuota,
  type Budget,
  type BudgetSpec,
  concurrencyShare,
  constant,
  DependencyPolicy,
  failed,
  grpcThrottle,
  type Judge,
  type OperationOptions,
  windowShare,
} from "../../src/core/index.ts";
import { fault, Lab, type Script } from "../lib/lab.ts";

const EXITS = [
  "abort in backoff",
  "non-retryable error",
  "thrown classifier",
  "deadline",
  "abort when sent",
  "no place",
] as const;

/** Throws at the second attempt of a call that is to end so, and knows the rest. */
const judge: Judge = (result, attempt) => {
  if (attempt.kind === "retry" && (result.error as Error | undefined)?.message === "odd")
    throw new Error("judge");
  return "error" in result && result.error === "wrong" ? failed(result.error, "permanent") : undefined;
};

/** 500 calls, each of which takes a token for a retry and then ends in one of these ways. */
function books(spec: BudgetSpec, most: number): Budget {
  const lab = new Lab(7);
  const perform = (attempt: Attempt, work: unknown): void => (work as Script)(attempt);
  const options = { name: "stock", budget: spec, bulkhead: { limit: 1 } };
  const policy = new DependencyPolicy(options, lab.runtime, perform);
  const budget = policy.budget as Budget;
  const retry: OperationOptions["retry"] = { attempts: 3, backoff: constant(10) };
  const view = policy.operation("view", { idempotent: true, retry, classify: judge });
  let taken = 0;
  const reserve = budget.reserve.bind(budget);
  budget.reserve = (...all) => {
    const token = reserve(...all);
    if (token.kind === "token") taken++;
    return token;
  };
  let returned = 0;
  const resolve = budget.resolve.bind(budget);
  budget.resolve = (token, sent, now) => {
    if (!sent) returned++;
    resolve(token, sent, now);
  };
  const fails = lab.throws(fault("transient"));
  for (let i = 0; i < 500; i++) {
    const exit = EXITS[i % EXITS.length];
    const second: Script =
      exit === "non-retryable error"
        ? lab.throws("wrong")
        : exit === "thrown classifier"
          ? lab.throws(new Error("odd"))
          : lab.hangs;
    const call = lab.start(view, [fails, second], { withinMs: exit === "deadline" ? 15 : Infinity });
    lab.runtime.advance(5);
    if (exit === "abort in backoff") call.process.cancel("gone");
    const other = exit === "no place" ? lab.start(view, lab.hangs) : null;
    lab.runtime.advance(15);
    if (exit === "abort when sent") call.process.cancel("gone");
    for (const attempt of [...call.sent, ...(other?.sent ?? [])]) attempt.succeed("at last");
    expect(call.answers.length, exit).toBe(1);
    expect(taken).toBe(budget.repeats + returned + budget.reserved);
    expect(budget.level).toBeGreaterThanOrEqual(0);
    expect(budget.level).toBeLessThanOrEqual(most);
  }
  expect([budget.reserved, lab.runtime.pending]).toEqual([0, 0]);
  expect(taken).toBeGreaterThan(0);
  expect(returned).toBeGreaterThan(0);
  return budget;
}

it("case 034: taken = spent + returned, whichever way 500 calls end", () => {
  const ratio = books({ ratio: 0, burst: 1_000 }, 1_000);
  // In four of the six exits the retry was sent.
  expect([ratio.repeats, ratio.level]).toEqual([333, 1_000 - 333]);
});

it.each<[string, BudgetSpec, number]>([
  ["ratio", { ratio: 0.1, burst: 10 }, 10],
  ["aws", awsQuota(), 500],
  ["grpc", grpcThrottle({ maxTokens: 1_000, tokenRatio: 0.1 }), 1_000],
  ["concurrencyShare", concurrencyShare(), 3],
  ["windowShare", windowShare(), 1_000],
])("case 034: the same with a budget of kind %s", (_kind, spec, most) => {
  books(spec, most);
});
