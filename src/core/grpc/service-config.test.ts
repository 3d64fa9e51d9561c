// What a service config may say, and what of it is refused: gRPC A6 ("Validation of …"), grpc/grpc doc/service_config.md.
import { describe, expect, it } from "vitest";
import { grpcServiceConfig } from "./service-config.ts";

const retryPolicy = {
  maxAttempts: 3,
  initialBackoff: "0.1s",
  maxBackoff: "1s",
  backoffMultiplier: 2,
  retryableStatusCodes: ["UNAVAILABLE"],
};
const hedgingPolicy = { maxAttempts: 3, hedgingDelay: "0.5s" };
const of = (method: object, more: object = {}) =>
  grpcServiceConfig({ methodConfig: [{ name: [{}], ...method }], ...more });
const options = (method: object) => of(method).operation("s", "m");

describe("a service config", () => {
  it("becomes options", () => {
    expect(options({ retryPolicy, timeout: "1.5s", waitForReady: true })).toMatchObject({
      idempotent: true,
      totalTimeoutMs: 1_500,
      retry: { attempts: 3, backoff: { kind: "spread", baseMs: 100, capMs: 1_000, factor: 2, jitter: 0.2 } },
    });
    expect(options({ hedgingPolicy })).toMatchObject({
      idempotent: true,
      hedge: { attempts: 3, delayMs: 500, onFailure: "next", quietMs: 0 },
    });
    expect(Object.keys(options({}))).toEqual(["classify"]);
    expect(of({}).budget).toBe("none");
    expect(of({}, { retryThrottling: { maxTokens: 10, tokenRatio: 0.1 } }).budget).toEqual({
      kind: "grpc",
      maxTokens: 10,
      tokenRatio: 0.1,
    });
  });

  it("is found by method, else by service, else by the empty name", () => {
    const named = (timeout: string, ...name: object[]) => ({ name, timeout });
    const config = grpcServiceConfig({
      methodConfig: [
        named("1s", { service: "shop.Stock", method: "View" }, { service: "shop.Stock", method: "List" }),
        named("2s", { service: "shop.Stock" }, { service: "shop.Cart", method: "" }),
        named("3s", {}),
        named("4s"),
      ],
    });
    const of = (service: string, method: string) => config.operation(service, method).totalTimeoutMs;
    expect(of("shop.Stock", "View")).toBe(1_000);
    expect(of("shop.Stock", "List")).toBe(1_000);
    expect(of("shop.Stock", "view")).toBe(2_000);
    expect(of("shop.Cart", "View")).toBe(2_000);
    expect(of("shop.Other", "View")).toBe(3_000);
    expect(grpcServiceConfig({}).operation("shop.Stock", "View").totalTimeoutMs).toBeUndefined();
  });

  it.each([
    ["0.000000001s", 1e-6],
    ["3s", 3_000],
    ["315576000000s", 2_147_483_647],
  ])("takes %s for %d ms", (maxBackoff, ms) => {
    const { backoff } =
      options({ retryPolicy: { ...retryPolicy, initialBackoff: maxBackoff, maxBackoff } }).retry ?? {};
    expect(backoff).toMatchObject({ capMs: expect.closeTo(ms, 9) });
  });

  it("takes statuses as numbers, and in any case", () => {
    for (const code of [14, "UNAVAILABLE", "unavailable", "Unavailable"]) {
      const { classify } = options({ retryPolicy: { ...retryPolicy, retryableStatusCodes: [code] } });
      const class_ = (number: number) => classify({ error: { code: number } }, null as never);
      expect([class_(14), class_(13)]).toMatchObject([{ class: "transient" }, { class: "permanent" }]);
    }
  });

  it("takes a backoff that shrinks, and one whose first wait is above its last", () => {
    const shrinking = { ...retryPolicy, backoffMultiplier: 0.5, initialBackoff: "2s" };
    expect(options({ retryPolicy: shrinking }).retry?.backoff).toMatchObject({ baseMs: 1_000, factor: 0.5 });
  });
});

describe("is refused by the field", () => {
  const at = "serviceConfig.methodConfig[0]";
  const retry = (more: object) => ({ retryPolicy: { ...retryPolicy, ...more } });
  const hedge = (more: object) => ({ hedgingPolicy: { ...hedgingPolicy, ...more } });
  const durations = ["-1s", "1", 1, ".1s", "1.s", "1m", "01s", "1e3s", "0.0000000001s", " 1s", "", "NaNs"];
  it.each([
    ...[undefined, 1, 0, -1, 2.5, "3", Number.NaN].flatMap((maxAttempts) => [
      [retry({ maxAttempts }), "retryPolicy.maxAttempts"],
      [hedge({ maxAttempts }), "hedgingPolicy.maxAttempts"],
    ]),
    ...[undefined, "0s", ...durations].flatMap((value) => [
      [retry({ initialBackoff: value }), "retryPolicy.initialBackoff"],
      [retry({ maxBackoff: value }), "retryPolicy.maxBackoff"],
    ]),
    ...durations.map((hedgingDelay) => [hedge({ hedgingDelay }), "hedgingPolicy.hedgingDelay"]),
    ...["0s", ...durations].map((timeout) => [{ timeout }, "timeout"]),
    ...[undefined, 0, -1, "2", Number.NaN].map((backoffMultiplier) => [
      retry({ backoffMultiplier }),
      "retryPolicy.backoffMultiplier",
    ]),
    ...[undefined, [], "UNAVAILABLE", [17], [-1], [1.5], ["NO_SUCH"], [null]].map((retryableStatusCodes) => [
      retry({ retryableStatusCodes }),
      "retryPolicy.retryableStatusCodes",
    ]),
    [hedge({ nonFatalStatusCodes: ["NO_SUCH"] }), "hedgingPolicy.nonFatalStatusCodes"],
    [{ retryPolicy, hedgingPolicy }, "hedgingPolicy"],
    [{ retryPolicy: [] }, "retryPolicy"],
    [{ hedgingPolicy: "none" }, "hedgingPolicy"],
    [{ name: "shop.Stock" }, "name"],
    [{ name: ["shop.Stock"] }, "name[0]"],
    [{ name: [{ method: "View" }] }, "name[0].method"],
    [{ name: [{ service: 7 }] }, "name[0].service"],
    [{ name: [{ service: "s" }, { service: "s", method: "" }] }, "name[1]"],
  ] as [object, string][])("%j: %s", (method, field) => {
    expect(() => of(method)).toThrow(
      expect.objectContaining({ name: "OptionError", field: `${at}.${field}` }),
    );
  });

  it.each([
    [null, ""],
    [[], ""],
    [{ methodConfig: {} }, ".methodConfig"],
    [{ methodConfig: [null] }, ".methodConfig[0]"],
    [{ retryThrottling: 1 }, ".retryThrottling"],
    [{ retryThrottling: { tokenRatio: 1 } }, ".retryThrottling.maxTokens"],
    [{ retryThrottling: { maxTokens: 0, tokenRatio: 1 } }, ".retryThrottling.maxTokens"],
    [{ retryThrottling: { maxTokens: 1_001, tokenRatio: 1 } }, ".retryThrottling.maxTokens"],
    [{ retryThrottling: { maxTokens: 1.5, tokenRatio: 1 } }, ".retryThrottling.maxTokens"],
    [{ retryThrottling: { maxTokens: 10 } }, ".retryThrottling.tokenRatio"],
    [{ retryThrottling: { maxTokens: 10, tokenRatio: 0 } }, ".retryThrottling.tokenRatio"],
    [{ retryThrottling: { maxTokens: 10, tokenRatio: 0.0009 } }, ".retryThrottling.tokenRatio"],
  ])("%j: serviceConfig%s", (config, field) => {
    const refused = expect.objectContaining({ name: "OptionError", field: `serviceConfig${field}` });
    expect(() => grpcServiceConfig(config)).toThrow(refused);
  });
});
