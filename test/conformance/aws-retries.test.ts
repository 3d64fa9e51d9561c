// The retry behaviour of the AWS SDKs: version 2.1, the default since 10 November 2026, and the one before it. Vectors
// from botocore's `test_standard_retry_v2_1.py`, and measured on @smithy/core 3.41 with chance pinned to its most.
import { describe, expect, it } from "vitest";
import {
  type Attempt,
  awsBackoff,
  awsQuota,
  type Budget,
  DependencyPolicy,
  judgeAws,
  type OperationOptions,
  type OperationPolicy,
  type Random,
} from "../../src/core/index.ts";
import { Lab, only, type Script, type Started } from "../lib/lab.ts";

/** Chance at its most, so that a wait is its ceiling. */
const MOST: Random = { next: () => 1, fork: () => MOST };

/** A client of one service. */
class Client extends Lab {
  readonly command: OperationPolicy;
  readonly quota: Budget;

  constructor(retry: OperationOptions["retry"] = {}, version: "2.1" | "legacy" = "2.1") {
    super();
    Object.assign(this.runtime, { random: MOST });
    const perform = (attempt: Attempt, work: unknown): void => (work as Script)(attempt);
    const service = new DependencyPolicy(
      { name: "aws", budget: awsQuota({ version }) },
      this.runtime,
      perform,
    );
    this.quota = service.budget as Budget;
    this.command = service.operation("GetItem", { idempotent: true, retry, classify: judgeAws });
  }

  /** Makes a call and lets time pass until it has ended. */
  call(...scripts: Script[]): Started & { readonly gaps: number[] } {
    const started = this.start(this.command, scripts);
    this.runtime.runToIdle();
    const at = started.sent.map(({ sentAt }) => sentAt);
    return Object.assign(started, { gaps: at.slice(1).map((each, n) => each - (at[n] as number)) });
  }

  /** An answer of the service's that is an error. */
  error(httpStatusCode: number, name = "Odd", retryAfter?: string): Script {
    const headers = retryAfter === undefined ? {} : { "x-amz-retry-after": retryAfter };
    return this.throws(
      Object.assign(new Error(name), { name, $metadata: { httpStatusCode }, $response: { headers } }),
    );
  }
}

describe("version 2.1", () => {
  const client = (attempts: number, baseMs = 50): Client =>
    new Client({ attempts, backoff: awsBackoff({ baseMs }) });

  it("DynamoDB: 486, 472, 458 tokens and waits of 25, 50, 100 ms, then attempts are spent", () => {
    const dynamo = client(4, 25);
    const levels: number[] = [];
    const failing: Script = (attempt) => {
      levels.push(dynamo.quota.level);
      dynamo.error(500)(attempt);
    };
    const failed = dynamo.call(failing);
    expect([failed.gaps, levels.slice(1), dynamo.quota.level]).toEqual([[25, 50, 100], [486, 472, 458], 458]);
    expect(only(failed, "failed").stoppedBy?.reason).toBe("attempts spent");
  });

  it("a success gives back what the last retry cost, a first success one token, a failed call nothing", () => {
    const dynamo = client(4, 25);
    dynamo.call(dynamo.error(500), dynamo.error(500), dynamo.error(500), dynamo.gives("done"));
    expect(dynamo.quota.level).toBe(500 - 3 * 14 + 14);
    dynamo.call(dynamo.gives("done"));
    expect(dynamo.quota.level).toBe(473);
    dynamo.call(dynamo.error(400));
    expect(dynamo.quota.level).toBe(473);
  });

  it("a full quota pays for 35 retries of transient errors, or 100 of throttling", () => {
    for (const [status, retries, left] of [
      [500, 35, 10],
      [429, 100, 0],
    ] as const) {
      const one = client(100);
      const calls = [one.call(one.error(status)), one.call(one.error(status))];
      const sent = calls.map((call) => call.sent.length);
      expect(sent[0]! + sent[1]! - 2).toBe(retries);
      expect([one.quota.level, only(calls[1]!, "failed").stoppedBy?.by]).toEqual([left, "budget"]);
    }
  });

  it("throttling waits from a second on, DynamoDB's too; it is looked for before the status", () => {
    const dynamo = client(4, 25);
    const slow = dynamo.call(dynamo.error(400, "ProvisionedThroughputExceededException"));
    expect([slow.gaps, dynamo.quota.level]).toEqual([[1_000, 2_000, 4_000], 485]);
  });

  it.each([
    ["1500", 1_500],
    ["0", 50],
    ["10000", 5_050],
    ["invalid", 50],
    ["-100", 50],
  ])("x-amz-retry-after of %s after the first attempt: %i ms", (retryAfter, waitMs) => {
    const one = client(2);
    expect(one.call(one.error(500, "Odd", retryAfter)).gaps).toEqual([waitMs]);
  });

  it("asks in this order: worth a retry? attempts left? tokens left?", () => {
    const one = client(2);
    while (one.quota.level >= 14) one.call(one.error(500));
    const stop = (script: Script) => only(one.call(script), "failed").stoppedBy?.by;
    expect([stop(one.error(500)), stop(one.error(400))]).toEqual(["budget", undefined]);
    const single = new Client({ attempts: 1 });
    const call = single.call(single.error(500));
    expect([call.sent.length, single.quota.level]).toEqual([1, 500]);
  });
});

describe("before", () => {
  it("a retry cost 5, one after a timeout 10; waits began at 100 ms, or 500 after throttling", () => {
    const backoff = awsBackoff({ baseMs: 100, throttlingBaseMs: 500 });
    const client = new Client({ attempts: 3, backoff }, "legacy");
    expect([client.call(client.error(500)).gaps, client.quota.level]).toEqual([[100, 200], 490]);
    expect([client.call(client.error(400, "ThrottlingException")).gaps, client.quota.level]).toEqual([
      [500, 1_000],
      480,
    ]);
  });
});
