import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_TIMER_MS } from "../../core/runtime.ts";
import { parseHttpDate } from "./http-date.ts";
import { pushbackOf, retryAfterMs, toldToRetry } from "./retry-after.ts";

const NOW = Date.UTC(1994, 10, 6, 8, 49, 32);

describe("Retry-After", () => {
  it.each([
    ["1", 1_000],
    ["0", 0],
    ["120", 120_000],
    ["007", 7_000],
    ["2147483648", MAX_TIMER_MS],
    ["99999999999999999999", MAX_TIMER_MS],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 5_000],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 5_000],
    ["Sun Nov  6 08:49:37 1994", 5_000],
    ["Sun, 06 Nov 1994 08:49:31 GMT", 0],
    ["Saturday, 06-Nov-93 08:49:37 GMT", 0],
    ["Sat Nov  6 08:49:37 1993", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", MAX_TIMER_MS],
  ])("%j is %d ms", (value, ms) => {
    expect(retryAfterMs(value, null, NOW)).toBe(ms);
  });

  it.each([
    "-5",
    "-3",
    "abc",
    "soon",
    "",
    "1.5",
    "1e0",
    "+1",
    "2 sec",
    "Infinity",
    "NaN",
    "0x10",
    "5, 10",
    "9".repeat(21),
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:38 GMT",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 PST",
    "Sun, 31 Feb 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 25:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT",
    "1994-11-06T08:49:37Z",
  ])("%j is as good as absent", (value) => {
    expect(retryAfterMs(value, null, NOW)).toBeUndefined();
  });

  it("is absent when it is not there", () => {
    expect(retryAfterMs(null, null, NOW)).toBeUndefined();
  });

  it("is taken against the reply's own Date, so clocks need not agree", () => {
    const at = "Sun, 06 Nov 1994 08:49:37 GMT";
    const anHourOff = NOW + 3_600_000;
    expect(retryAfterMs(at, "Sun, 06 Nov 1994 08:49:32 GMT", anHourOff)).toBe(5_000);
    expect(retryAfterMs(at, "yesterday", anHourOff)).toBe(0);
    expect(retryAfterMs("5", "Sun, 06 Nov 1994 08:49:32 GMT", anHourOff)).toBe(5_000);
  });
});

describe("an HTTP date", () => {
  it("has a century for two digits: the past one if it would be more than 50 years ahead", () => {
    const now = Date.UTC(2026, 0, 1);
    const year = (text: string): number => new Date(parseHttpDate(text, now) as number).getUTCFullYear();
    expect(year("Wednesday, 01-Jan-76 00:00:00 GMT")).toBe(2076);
    expect(year("Wednesday, 01-Jan-76 00:00:01 GMT")).toBe(1976);
    expect(year("Friday, 06-Nov-94 08:49:37 GMT")).toBe(1994);
  });

  it("may name a leap second", () => {
    expect(parseHttpDate("Sat, 31 Dec 2016 23:59:60 GMT", 0)).toBe(Date.UTC(2016, 11, 31, 23, 59, 59));
  });

  it("is what toUTCString writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (seconds) => {
        expect(parseHttpDate(new Date(seconds * 1000).toUTCString(), 0)).toBe(seconds * 1000);
      }),
    );
  });
});

describe("a peer's word", () => {
  const said = (headers: Record<string, string>) => pushbackOf(new Headers(headers), NOW);

  it.each([
    [{}, undefined],
    [{ "retry-after": "1" }, 1_000],
    [{ "retry-after-ms": "20", "retry-after": "1" }, 20],
    [{ "x-ms-retry-after-ms": "30", "retry-after": "1" }, 30],
    [{ "x-amz-retry-after": "1500" }, 1_500],
    [{ "retry-after-ms": "soon", "retry-after": "1" }, 1_000],
    [{ "retry-after-ms": "-100" }, undefined],
    [{ "retry-after-ms": "1.5" }, undefined],
    [{ "retry-after-ms": "4294967296" }, MAX_TIMER_MS],
    [{ "grpc-retry-pushback-ms": "100", "retry-after": "1" }, { exactlyMs: 100 }],
    [{ "grpc-retry-pushback-ms": "0" }, { exactlyMs: 0 }],
    [{ "grpc-retry-pushback-ms": "2147483647" }, { exactlyMs: MAX_TIMER_MS }],
    [{ "grpc-retry-pushback-ms": "2147483648" }, "never"],
    [{ "grpc-retry-pushback-ms": "99999999999" }, "never"],
    [{ "grpc-retry-pushback-ms": "-1" }, "never"],
    [{ "grpc-retry-pushback-ms": "abc" }, "never"],
    [{ "grpc-retry-pushback-ms": "" }, "never"],
    [{ "grpc-retry-pushback-ms": "1e3" }, "never"],
    [{ "grpc-retry-pushback-ms": "50x" }, "never"],
    [{ "grpc-retry-pushback-ms": "007" }, "never"],
    [{ "grpc-retry-pushback-ms": "10, 20" }, "never"],
    [{ "x-envoy-overloaded": "true", "retry-after": "1" }, "never"],
    [{ "x-envoy-ratelimited": "" }, "never"],
    [{ "x-should-retry": "false", "retry-after-ms": "1" }, "never"],
    [{ "stripe-should-retry": "false" }, "never"],
    [{ "x-should-retry": "true" }, undefined],
    [{ "x-should-retry": "perhaps" }, undefined],
  ] as [Record<string, string>, unknown][])("%j says %s", (headers, word) => {
    expect(said(headers)).toEqual(word);
  });

  it("may ask for a retry", () => {
    expect(toldToRetry(new Headers({ "stripe-should-retry": "true" }))).toBe(true);
    expect(toldToRetry(new Headers({ "x-should-retry": "TRUE" }))).toBe(false);
    expect(toldToRetry(new Headers())).toBe(false);
  });

  it("never becomes anything but a wait that a timer takes", () => {
    const names = ["retry-after", "retry-after-ms", "x-amz-retry-after", "grpc-retry-pushback-ms", "date"];
    const value = fc.oneof(fc.stringMatching(/^[0-9+.eE,x -]{0,24}$/), fc.stringMatching(/^[ -~]{0,40}$/));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (headers) => {
        const word = said(headers);
        const ms = typeof word === "object" ? word.exactlyMs : word;
        if (typeof ms === "number") expect(ms >= 0 && ms <= MAX_TIMER_MS).toBe(true);
        else expect([undefined, "never"]).toContain(ms);
      }),
    );
  });
});
