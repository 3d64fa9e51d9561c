import { describe, expect, it } from "vitest";
import { failureOf } from "../fetch/http-error.ts";
import { rateLimitResetMs } from "./rate-limit-reset.ts";

const NOW = Date.UTC(2026, 10, 30);
const reset = (headers: Record<string, string>) => rateLimitResetMs(new Headers(headers), NOW);

describe("RateLimit (draft -10)", () => {
  it.each([
    ['"default";r=0;t=30', 30_000],
    ['"default";r=50;t=30', undefined],
    ['"burst";r=0;t=5, "daily";r=0;t=3600', 3_600_000],
    ['"burst";r=0;t=5,"daily";r=900;t=3600', 5_000],
    ['"a,b;c";r=0;t=7', 7_000],
    ['"default";pk=:c2VjcmV0:;r=0;t=4', 4_000],
    ['"default";r=0', undefined],
    ['"default";r=0;t=-1', undefined],
    ['"default";r=0;t=1.5', undefined],
    ["default;r=0;t=30", undefined],
    ['"default";t=30', undefined],
    ['"default";r=0;t=30, garbage', undefined],
    ["", undefined],
    ['"default";r=0;t=99999999999', 2_147_483_647],
  ])("%s is %s", (value, ms) => {
    expect(reset({ ratelimit: value })).toBe(ms);
  });
});

describe("the older forms", () => {
  it.each([
    [{ "ratelimit-reset": "30", "ratelimit-remaining": "0" }, 30_000],
    [{ "ratelimit-reset": "30" }, 30_000],
    [{ "ratelimit-reset": "30", "ratelimit-remaining": "4" }, undefined],
    [{ "x-ratelimit-reset": `${NOW / 1000 + 60}`, "x-ratelimit-remaining": "0" }, 60_000],
    [{ "x-ratelimit-reset": `${NOW / 1000 - 60}`, "x-ratelimit-remaining": "0" }, 0],
    [{ "x-rate-limit-reset": "5" }, 5_000],
    [{ "x-ratelimit-reset": "soon" }, undefined],
    [{ "x-ratelimit-reset": "-5" }, undefined],
    [{ "x-ratelimit-reset": "1e3" }, undefined],
  ])("%j is %s", (headers, ms) => {
    expect(reset(headers as Record<string, string>)).toBe(ms);
  });
});

describe("in a reply", () => {
  const meaning = (status: number, headers: Record<string, string>) =>
    failureOf(status, new Headers(headers), 1, NOW);

  it("counts for a 429 and a 503, and for nothing else: many send it with every reply", () => {
    const headers = { "x-ratelimit-reset": "30", "x-ratelimit-remaining": "0" };
    expect(meaning(429, headers).pushback).toBe(30_000);
    expect(meaning(503, headers).pushback).toBe(30_000);
    expect(meaning(500, headers).pushback).toBeUndefined();
  });

  it("stands behind Retry-After and every word against a retry", () => {
    const headers = { ratelimit: '"default";r=0;t=30' };
    expect(meaning(429, { ...headers, "retry-after": "2" }).pushback).toBe(2_000);
    expect(meaning(429, { ...headers, "x-should-retry": "false" }).pushback).toBe("never");
  });
});
