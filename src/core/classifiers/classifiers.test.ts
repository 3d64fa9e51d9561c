import { describe, expect, it } from "vitest";
import type { Outcome } from "../call.ts";
import type { Judge } from "../leaf.ts";
import { AWS_THROTTLING, AWS_TRANSIENT, judgeAws } from "./aws.ts";
import { GRPC_STATUS, grpcPushback, judgeGrpc } from "./grpc.ts";
import { judgeRedis, REDIS_REPLY } from "./redis.ts";

const judged = (judge: Judge, error: unknown): Outcome | undefined => judge({ error }, null as never);

describe("a gRPC status (grpc/grpc doc/statuscodes.md)", () => {
  it.each([
    [1, "CANCELLED", "unknown", "unknown"],
    [2, "UNKNOWN", "unknown", "unknown"],
    [3, "INVALID_ARGUMENT", "permanent", "none"],
    [4, "DEADLINE_EXCEEDED", "transient", "unknown"],
    [5, "NOT_FOUND", "permanent", "none"],
    [6, "ALREADY_EXISTS", "permanent", "none"],
    [7, "PERMISSION_DENIED", "permanent", "none"],
    [8, "RESOURCE_EXHAUSTED", "throttling", "unknown"],
    [9, "FAILED_PRECONDITION", "permanent", "none"],
    [10, "ABORTED", "permanent", "none"],
    [11, "OUT_OF_RANGE", "permanent", "none"],
    [12, "UNIMPLEMENTED", "permanent", "none"],
    [13, "INTERNAL", "unknown", "unknown"],
    [14, "UNAVAILABLE", "transient", "unknown"],
    [15, "DATA_LOSS", "permanent", "unknown"],
    [16, "UNAUTHENTICATED", "permanent", "none"],
  ])("%i %s is %s, effect %s", (code, _name, failureClass, effect) => {
    const error = Object.assign(new Error("status"), { code });
    expect(judged(judgeGrpc, error)).toMatchObject({ kind: "failed", error, class: failureClass, effect });
    expect(GRPC_STATUS.size).toBe(16);
  });

  it.each([
    ["100", { exactlyMs: 100 }],
    ["0", { exactlyMs: 0 }],
    ["2147483647", { exactlyMs: 2_147_483_647 }],
    ["-1", "never"],
    ["abc", "never"],
    ["", "never"],
    ["1e3", "never"],
    ["99999999999", "never"],
    ["50x", "never"],
    ["007", "never"],
    [" 5", "never"],
  ])("with a pushback of %j means %j (A6)", (value, pushback) => {
    const error = { code: 14, metadata: { get: () => [value] } };
    expect(judged(judgeGrpc, error)).toMatchObject({ pushback });
  });

  it("with two pushbacks is not repeated, and without any says nothing", () => {
    expect(grpcPushback(["10", "10"])).toBe("never");
    expect(grpcPushback([])).toBeUndefined();
    expect(
      judged(judgeGrpc, { code: 14, metadata: new Headers({ "grpc-retry-pushback-ms": "7" }) }),
    ).toMatchObject({
      pushback: { exactlyMs: 7 },
    });
    expect(judged(judgeGrpc, { code: 14, metadata: new Headers() })).not.toHaveProperty("pushback", "never");
  });

  it("leaves what is none to the library", () => {
    for (const error of [null, "no", new Error("no"), { code: "ECONNRESET" }, { code: 99 }])
      expect(judged(judgeGrpc, error)).toBeUndefined();
    expect(judgeGrpc({ value: 1 }, null as never)).toBeUndefined();
  });
});

describe("an error of the AWS SDK", () => {
  const sdk = (name: string, httpStatusCode: number, more = {}) =>
    Object.assign(new Error(name), { name, $metadata: { httpStatusCode }, ...more });

  it.each(AWS_THROTTLING)("%s is a throttle, also as a 400", (name) => {
    expect(judged(judgeAws, sdk(name, 400))).toMatchObject({ class: "throttling", effect: "none" });
  });

  it.each(AWS_TRANSIENT)("%s may pass", (name) => {
    expect(judged(judgeAws, sdk(name, 400))).toMatchObject({ class: "transient", effect: "unknown" });
  });

  it.each([
    [429, "throttling"],
    [500, "transient"],
    [502, "transient"],
    [503, "transient"],
    [504, "transient"],
    [400, "permanent"],
    [403, "permanent"],
    [404, "permanent"],
    [501, "permanent"],
  ])("%i alone is %s", (status, failureClass) => {
    expect(judged(judgeAws, sdk("SomeException", status))).toMatchObject({ class: failureClass });
  });

  it("follows the model's own traits", () => {
    expect(judged(judgeAws, sdk("Odd", 400, { $retryable: { throttling: true } }))).toMatchObject({
      class: "throttling",
    });
    expect(judged(judgeAws, sdk("Odd", 400, { $retryable: {} }))).toMatchObject({ class: "transient" });
  });

  it.each([
    ["1500", 1_500],
    ["0", 0],
    ["invalid", undefined],
    ["-100", undefined],
    ["1.5", undefined],
    ["99999999999", 2_147_483_647],
  ])("with x-amz-retry-after %s waits %s", (value, pushback) => {
    const error = sdk("SlowDown", 503, { $response: { headers: { "x-amz-retry-after": value } } });
    expect((judged(judgeAws, error) as { pushback?: number }).pushback).toBe(pushback);
  });

  it("is worth another try once the SDK has set its clock right", () => {
    const skewed = sdk("InvalidSignatureException", 403);
    expect(judged(judgeAws, skewed)).toMatchObject({ class: "permanent" });
    Object.assign(skewed.$metadata, { clockSkewCorrected: true });
    expect(judged(judgeAws, skewed)).toMatchObject({ class: "transient", effect: "none" });
  });

  it("leaves what has no status to the library, though the SDK's loop has counted it; but knows its own timeouts", () => {
    const counted = { $metadata: { attempts: 1, totalRetryDelay: 0 } };
    expect(judged(judgeAws, Object.assign(new Error("no"), { code: "ECONNRESET" }, counted))).toBeUndefined();
    const late = Object.assign(new Error("late"), { name: "TimeoutError" }, counted);
    expect(judged(judgeAws, late)).toMatchObject({ class: "transient", effect: "unknown" });
  });

  it("leaves a failed connection to the library", () => {
    expect(judged(judgeAws, Object.assign(new Error("no"), { code: "ECONNREFUSED" }))).toBeUndefined();
  });
});

describe("an error reply of Redis", () => {
  it.each([...REDIS_REPLY].map(([word, { class: failureClass }]) => [word, failureClass] as const))(
    "%s is %s, and was not executed",
    (word, failureClass) => {
      const error = Object.assign(new Error(`${word} and more`), { name: "ReplyError" });
      expect(judged(judgeRedis, error)).toMatchObject({ error, class: failureClass, effect: "none" });
    },
  );

  it("leaves a lost connection to the library", () => {
    for (const message of ["Connection is closed.", "read ECONNRESET", "", "Error: ERR"])
      expect(judged(judgeRedis, new Error(message))).toBeUndefined();
    expect(judged(judgeRedis, null)).toBeUndefined();
  });
});
