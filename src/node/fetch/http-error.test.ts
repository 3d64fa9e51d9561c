import { describe, expect, it } from "vitest";
import { classify } from "../../core/classify.ts";
import { failureOf, HttpError } from "./http-error.ts";

const meaning = (status: number, headers: Record<string, string> = {}, attempt = 1) =>
  failureOf(status, new Headers(headers), attempt, 0);

describe("a status", () => {
  it.each([
    [400, "permanent", "none"],
    [401, "permanent", "none"],
    [404, "permanent", "none"],
    [408, "transient", "unknown"],
    [409, "permanent", "none"],
    [413, "permanent", "none"],
    [422, "permanent", "none"],
    [423, "permanent", "none"],
    [425, "transient", "none"],
    [429, "throttling", "unknown"],
    [499, "permanent", "unknown"],
    [500, "transient", "unknown"],
    [501, "permanent", "none"],
    [502, "transient", "unknown"],
    [503, "throttling", "unknown"],
    [504, "transient", "unknown"],
    [505, "permanent", "none"],
    [507, "transient", "unknown"],
    [508, "permanent", "none"],
    [511, "permanent", "none"],
    [520, "transient", "unknown"],
    [521, "transient", "none"],
    [522, "transient", "unknown"],
    [523, "transient", "none"],
    [524, "transient", "unknown"],
    [525, "transient", "none"],
    [526, "permanent", "none"],
    [529, "throttling", "unknown"],
    [599, "transient", "unknown"],
  ])("%d is %s, effect %s", (status, kind, effect) => {
    expect(meaning(status)).toEqual({ class: kind, effect, pushback: undefined });
  });

  it("has no effect where the peer says that nothing was executed", () => {
    for (const status of [429, 500, 503]) {
      expect(meaning(status, { "x-plimsoll-not-executed": "true" }).effect).toBe("none");
      expect(meaning(status, { "x-plimsoll-not-executed": "false" }).effect).toBe("unknown");
    }
  });

  it("408 is worth one more connection, not a series of them", () => {
    expect(meaning(408, {}, 1).pushback).toBeUndefined();
    expect(meaning(408, {}, 2).pushback).toBe("never");
  });

  it("is retried where the peer asks for it, if a repeat is harmless", () => {
    expect(meaning(409, { "x-should-retry": "true" })).toMatchObject({
      class: "transient",
      effect: "unknown",
    });
    expect(meaning(409, { "x-should-retry": "true", "x-envoy-overloaded": "true" }).pushback).toBe("never");
  });

  it("carries the peer's word", () => {
    expect(meaning(503, { "retry-after": "2" }).pushback).toBe(2_000);
    expect(meaning(503, { "x-envoy-overloaded": "true", "retry-after": "2" }).pushback).toBe("never");
    expect(meaning(500, { "x-should-retry": "false" }).pushback).toBe("never");
  });
});

it("an HttpError tells the guards what it means, wrapped or not", () => {
  const response = new Response(null, { status: 503, headers: { "retry-after": "1" } });
  const error = new HttpError("GET http://stock/", response, "busy", meaning(503, { "retry-after": "1" }));
  expect(error).toMatchObject({
    name: "HttpError",
    message: "GET http://stock/: 503",
    status: 503,
    body: "busy",
  });
  expect(error.headers.get("retry-after")).toBe("1");
  const said = { kind: "failed", class: "throttling", effect: "unknown", pushback: 1_000 };
  expect(classify({ error })).toMatchObject({ ...said, error });
  expect(classify({ error: new Error("no badges", { cause: error }) })).toMatchObject(said);
});
