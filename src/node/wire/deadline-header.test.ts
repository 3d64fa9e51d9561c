import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  encodeGrpcTimeout,
  encodeTimeLeft,
  MAX_TIME_LEFT_MS,
  parseTimeLeft,
  TIME_LEFT_HEADERS,
} from "./deadline-header.ts";

const ENVOY = "x-envoy-expected-rq-timeout-ms";
const CONNECT = "connect-timeout-ms";
const GRPC = "grpc-timeout";

describe("grpc-timeout, read", () => {
  it.each([
    // what grpc-go's decoder accepts
    ["00000001n", 1e-6],
    ["10u", 0.01],
    ["00000010m", 10],
    ["1S", 1_000],
    ["00000001M", 60_000],
    ["1H", 3_600_000],
    ["0S", 0],
    ["00000000S", 0],
    ["0m", 0],
    // below a millisecond there is still some time
    ["100u", 0.1],
    ["999999n", 0.999999],
    // long, never overflowing
    ["600H", MAX_TIME_LEFT_MS],
    ["500H", 1_800_000_000],
    ["1000H", MAX_TIME_LEFT_MS],
    ["12345678S", MAX_TIME_LEFT_MS],
    ["99999999S", MAX_TIME_LEFT_MS],
    ["2562048H", MAX_TIME_LEFT_MS],
    ["99999999H", MAX_TIME_LEFT_MS],
    // white space is HTTP's
    [" 1S", 1_000],
    ["1S\t", 1_000],
  ])("%j is %d ms", (value, ms) => {
    expect(parseTimeLeft(GRPC, value)).toBe(ms);
  });

  it.each([
    "-1S",
    "1234x",
    "1234s",
    "1234",
    "1",
    "",
    "9a1S",
    "000000000S",
    "1s",
    "S",
    "10x",
    "1.5S",
    "1 S",
    "123456789S",
    "+1S",
    "1e3S",
    "1S, 2S",
    "１S",
    "1S\n",
    `${"9".repeat(10_240)}S`,
  ])("%j is invalid", (value) => {
    expect(parseTimeLeft(GRPC, value)).toBe("invalid");
  });
});

describe("grpc-timeout, written", () => {
  it.each([
    // grpc-go's encoder
    [12_345_678n, "12345678n"],
    [123_456_789n, "123457u"],
    [123_456_789_000n, "123457m"],
    [123_456_789_000_000n, "123457S"],
    [123_456_789_000_000_000n, "2057614M"],
    [123_456_789n * 60_000_000_000n, "2057614H"],
    [10n ** 30n, "99999999H"],
  ])("%d ns is %s", (ns, header) => {
    expect(encodeGrpcTimeout(ns)).toBe(header);
  });

  it.each([
    [0.4, "400000n"],
    [1.2, "1200000n"],
    [1_000, "1000000u"],
    [99_999_999, "99999999m"],
    [99_999_999.5, "100000S"], // 9 digits of ms in grpc-js
    [1e8, "100000S"],
    [1e8 * 3_600_000, "2147484S"], // throws in grpc-js
    [1e-9, "1n"],
  ])("%d ms is %s", (ms, header) => {
    expect(encodeTimeLeft(GRPC, ms)).toBe(header);
  });
});

describe("the ms headers", () => {
  it.each([
    [ENVOY, "1", 1],
    [ENVOY, "250", 250],
    [ENVOY, "007", 7],
    [ENVOY, " 5", 5],
    [ENVOY, "99999999999999999999", MAX_TIME_LEFT_MS],
    [ENVOY, "0", "unbounded"],
    [CONNECT, "9999999999", MAX_TIME_LEFT_MS],
    [CONNECT, "1000", 1_000],
    [CONNECT, "0", "invalid"],
    [CONNECT, "10000000000", "invalid"],
  ] as const)("%s: %j is %s", (header, value, left) => {
    expect(parseTimeLeft(header, value)).toBe(left);
  });

  const garbage = [
    "",
    " ",
    "-1",
    "+1",
    "1.5",
    "1e9",
    "12abc",
    "0x10",
    "1 000",
    "100, 200",
    "Infinity",
    "NaN",
    "1S",
  ];
  it.each([...garbage, "9".repeat(21), "9".repeat(10_240)])("%j is invalid", (value) => {
    expect(parseTimeLeft(ENVOY, value)).toBe("invalid");
    expect(parseTimeLeft(CONNECT, value)).toBe("invalid");
  });

  it.each([
    [0.4, "1"],
    [1, "1"],
    [1.9, "1"],
    [250.9, "250"],
    [MAX_TIME_LEFT_MS, "2147483647"],
    [1e12, "2147483647"],
  ])("%d ms is %s", (ms, header) => {
    expect(encodeTimeLeft(ENVOY, ms)).toBe(header);
    expect(encodeTimeLeft(CONNECT, ms)).toBe(header);
  });
});

describe.each(TIME_LEFT_HEADERS)("%s", (header) => {
  it("says nothing of no limit, and nothing at all when the time is over", () => {
    expect(encodeTimeLeft(header, Infinity)).toBeUndefined();
    for (const ms of [0, -0, -5, -Infinity, Number.NaN]) {
      expect(() => encodeTimeLeft(header, ms)).toThrow(RangeError);
    }
  });

  it("reads what it writes: positive, and off by less than a unit", () => {
    const positive = fc.double({ min: 1e-9, max: 1e15, noNaN: true });
    fc.assert(
      fc.property(positive, (ms) => {
        const read = parseTimeLeft(header, encodeTimeLeft(header, ms) as string) as number;
        const meant = Math.min(ms, MAX_TIME_LEFT_MS);
        expect(read).toBeGreaterThan(0);
        expect(read).toBeLessThanOrEqual(MAX_TIME_LEFT_MS);
        expect(Math.abs(read - meant)).toBeLessThanOrEqual(Math.max(1, meant / 10_000));
      }),
    );
  });

  it("never reads anything but a time that a timer takes", () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9]{0,12}[HMSmun.e -]?[0-9]{0,2}$/));
    fc.assert(
      fc.property(texts, (text) => {
        const read = parseTimeLeft(header, text);
        if (typeof read === "number") {
          expect(read).toBeGreaterThanOrEqual(0);
          expect(read).toBeLessThanOrEqual(MAX_TIME_LEFT_MS);
        } else expect(["invalid", "unbounded"]).toContain(read);
      }),
    );
  });
});
