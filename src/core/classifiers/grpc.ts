/**
 * What a gRPC status means, for `@grpc/grpc-js` and `@connectrpc/connect` errors: a row for each code, and the
 * server's pushback, which stands above the row.
 *
 * A status says less than it seems to. UNAVAILABLE is also what a client library reports when a connection broke after
 * something was sent, and DEADLINE_EXCEEDED may follow a success: both leave it unknown what was done. ABORTED asks for
 * a retry further up, of the whole read and write. Sources: grpc/grpc `doc/statuscodes.md`; googleapis
 * `google/rpc/code.proto`; gRPC A6 (pushback; read from its text, grpc-js reads garbled ones as 1 ms).
 */
import type { Pushback } from "../call.ts";
import type { Judge } from "../leaf.ts";
import { BROKEN, field, judgeBy, type Meaning, REFUSED, THROTTLED, TRANSIENT } from "./meaning.ts";

/** By number, as in `google.rpc.Code`. */
export const GRPC_STATUS: ReadonlyMap<number, Meaning> = new Map<number, Meaning>([
  [1, { class: "unknown", effect: "unknown" }], // CANCELLED, by the server: by ours the call has ended already
  [2, { class: "unknown", effect: "unknown" }], // UNKNOWN
  [3, REFUSED], // INVALID_ARGUMENT
  [4, TRANSIENT], // DEADLINE_EXCEEDED, which may follow a success
  [5, REFUSED], // NOT_FOUND
  [6, REFUSED], // ALREADY_EXISTS
  [7, REFUSED], // PERMISSION_DENIED
  [8, THROTTLED], // RESOURCE_EXHAUSTED
  [9, REFUSED], // FAILED_PRECONDITION
  [10, REFUSED], // ABORTED: a retry belongs to whoever reads and writes
  [11, REFUSED], // OUT_OF_RANGE
  [12, REFUSED], // UNIMPLEMENTED
  [13, { class: "unknown", effect: "unknown" }], // INTERNAL
  [14, TRANSIENT], // UNAVAILABLE, which does not say whether anything ran
  [15, BROKEN], // DATA_LOSS
  [16, REFUSED], // UNAUTHENTICATED
]);

const INT32 = 2_147_483_647;

/**
 * `grpc-retry-pushback-ms`, as A6 reads it: a signed 32-bit number in ASCII. Negative, unreadable or given twice, it
 * means "do not retry"; undefined where there is none.
 */
export function grpcPushback(values: readonly string[]): Pushback | undefined {
  if (values.length === 0) return undefined;
  const [value = ""] = values;
  if (values.length > 1 || !/^(?:0|[1-9][0-9]{0,9})$/.test(value)) return "never";
  const ms = Number(value);
  return ms <= INT32 ? { exactlyMs: ms } : "never";
}

/** What an error of a gRPC call means; undefined where it is none. */
export function grpcMeaning(error: unknown): Meaning | undefined {
  const code = field(error, "code");
  const row = typeof code === "number" ? GRPC_STATUS.get(code) : undefined;
  if (row === undefined) return undefined;
  const pushback = grpcPushback(trailer(field(error, "metadata"), "grpc-retry-pushback-ms"));
  return pushback === undefined ? row : { ...row, pushback };
}

/** Judges what a gRPC call gave: `classify: judgeGrpc`. */
export const judgeGrpc: Judge = judgeBy(grpcMeaning);

/** All values of a trailer: grpc-js' `Metadata.get` gives an array, `Headers.get` a text or null. */
function trailer(metadata: unknown, name: string): string[] {
  const get = field(metadata, "get");
  if (typeof get !== "function") return [];
  const found: unknown = get.call(metadata, name);
  if (Array.isArray(found)) return found.map(String);
  return typeof found === "string" ? [found] : [];
}
