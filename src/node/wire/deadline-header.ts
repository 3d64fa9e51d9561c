/**
 * Time left on the wire. A deadline travels as the time that is left, so that clocks need not agree.
 *
 * Three spellings are read and written: `x-envoy-expected-rq-timeout-ms` (decimal ms; 0 means "no limit" there),
 * `grpc-timeout` (1 to 8 digits and a unit; 0 is expired, as in grpc-go) and `connect-timeout-ms` (a positive
 * decimal of at most 10 digits). What is not written exactly like that is not guessed at: a value that is read
 * leniently is how `1.5S` becomes 5 seconds and `600H` expires at once in one widely used server.
 *
 * Invariant: what is read is undefined or within 0 … 2^31 − 1 ms, so any timer takes it; what is written is
 * positive and is read back by the same machine. Sources: grpc `PROTOCOL-HTTP2.md`; grpc-go
 * `internal/grpcutil/encode_duration.go` and the tests of `decodeTimeout`; Envoy `source/common/router/router.cc`;
 * Connect's reference server.
 */

/** The headers that carry the time left. */
export type TimeLeftHeader = "x-envoy-expected-rq-timeout-ms" | "grpc-timeout" | "connect-timeout-ms";

/** All of them, in the order in which a server reads them by default: the one written for this hop first. */
export const TIME_LEFT_HEADERS: readonly TimeLeftHeader[] = [
  "x-envoy-expected-rq-timeout-ms",
  "grpc-timeout",
  "connect-timeout-ms",
];

/** The most that is read or written: 24.8 days, the longest timer of Node. Nobody waits longer for an answer. */
export const MAX_TIME_LEFT_MS: number = 2 ** 31 - 1;

/** What a header says: ms left, `unbounded` when it says that there is no limit, `invalid` when it says nothing. */
export type TimeLeft = number | "unbounded" | "invalid";

/** Reads a value. Optional white space around it is HTTP's, and has no meaning. */
export function parseTimeLeft(header: TimeLeftHeader, value: string): TimeLeft {
  const text = value.length > 64 ? "" : value.replace(/^[ \t]+|[ \t]+$/g, "");
  if (header === "grpc-timeout") return parseGrpc(text);
  const digits = header === "connect-timeout-ms" ? /^[0-9]{1,10}$/ : /^[0-9]{1,20}$/;
  if (!digits.test(text)) return "invalid";
  const ms = Number(text);
  if (ms > 0) return Math.min(ms, MAX_TIME_LEFT_MS);
  return header === "connect-timeout-ms" ? "invalid" : "unbounded";
}

/**
 * Writes the time left, at least 1 in the header's unit, at most `MAX_TIME_LEFT_MS`; undefined for `Infinity`,
 * since no header is how "no limit" is said. With no time left there is nothing to send: zero, a negative number
 * and NaN throw.
 */
export function encodeTimeLeft(header: TimeLeftHeader, ms: number): string | undefined {
  if (!(ms > 0)) throw new RangeError(`time left is ${ms} ms: fail here, and send nothing`);
  if (ms === Infinity) return undefined;
  if (header === "grpc-timeout") return encodeGrpcTimeout(toNs(Math.min(ms, MAX_TIME_LEFT_MS)));
  return String(Math.max(1, Math.floor(Math.min(ms, MAX_TIME_LEFT_MS))));
}

/** Nanoseconds in each unit of `grpc-timeout`, finest first. */
const UNITS: readonly (readonly [unit: string, ns: bigint])[] = [
  ["n", 1n],
  ["u", 1_000n],
  ["m", 1_000_000n],
  ["S", 1_000_000_000n],
  ["M", 60_000_000_000n],
  ["H", 3_600_000_000_000n],
];

const LARGEST_VALUE = 99_999_999n;
const NS_PER_MS = 1_000_000n;

/** Positive nanoseconds as `grpc-timeout`: the finest unit in which they fit into 8 digits, rounded up. */
export function encodeGrpcTimeout(ns: bigint): string {
  for (const [unit, size] of UNITS) {
    const value = (ns + size - 1n) / size;
    if (value <= LARGEST_VALUE) return `${value}${unit}`;
  }
  return `${LARGEST_VALUE}H`;
}

function toNs(ms: number): bigint {
  const ns = BigInt(Math.round(ms * 1e6));
  return ns > 0n ? ns : 1n;
}

function parseGrpc(text: string): TimeLeft {
  const match = /^([0-9]{1,8})([HMSmun])$/.exec(text);
  if (match === null) return "invalid";
  const size = UNITS.find(([unit]) => unit === match[2])?.[1] as bigint;
  const ns = BigInt(match[1] as string) * size;
  const most = BigInt(MAX_TIME_LEFT_MS) * NS_PER_MS;
  return ns >= most ? MAX_TIME_LEFT_MS : Number(ns) / 1e6;
}
