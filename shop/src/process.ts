/**
 * One process of the shop, from inside: a few messages with the one that started it, and no orphan. A child whose
 * parent has gone ends itself; Ctrl-C reaches it too, but it is the parent who ends it.
 */

import type { Plan } from "./plan.ts";
import { BusyPortError } from "./ports.ts";
import type { Counts } from "./seconds.ts";
import type { Step } from "./trace.ts";

/** What a child is told first. */
export interface Orders {
  readonly plan: Plan;
  /** Where the services below it listen, by name; one port for each instance. */
  readonly ports: Readonly<Record<string, readonly number[]>>;
  /** Where it shall listen itself; without it on a free port. */
  readonly port?: number | undefined;
  /** The database that it uses. */
  readonly database?: Connection;
  /** Which instance of its service it is. */
  readonly index?: number;
}

/** How to reach the shop's tables. */
export interface Connection {
  readonly url: string;
  readonly schema: string;
}

/** What a child says when it is ready. */
export interface Ready {
  readonly port?: number;
}

/** What a child says at the end. */
export interface Report {
  readonly seconds: [number, Counts][];
  /** What the process itself took, by second. */
  readonly vitals: [number, Vital][];
  /** What was seen of the actions that are followed. */
  readonly steps: Step[];
  /** Latencies of successes in ms, by second of arrival. Only the app has them. */
  readonly latencies?: [number, number[]][];
  /** How late the load generator was, in ms. */
  readonly lagMs?: Lag;
}

/** How far something was behind, in ms. */
export interface Lag {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** A process in one second: the share of a CPU it used, and how late its event loop was, P99 and at most, in ms. */
export interface Vital {
  readonly cpu: number;
  readonly lagMs: number;
  readonly maxLagMs: number;
}

/** What a child has to offer. */
export interface Role {
  /** Makes ready; may listen. */
  prepare(orders: Orders): Promise<Ready>;
  /** Does some pieces of its work, and says what one takes on average, ms. Only stock does. */
  measure?(pieces: number): Promise<number>;
  /** Works from now on; seconds count from `zeroAtMs` of the wall clock. */
  begin(zeroAtMs: number): void;
  /** Ends and reports. */
  end(): Promise<Report>;
}

/** What the parent asks. */
export type Request =
  | { readonly orders: Orders }
  | { readonly measure: number }
  | { readonly zeroAtMs: number }
  | { readonly end: true };

/** Makes this process a child with that role. */
export function play(role: Role): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit(0));
  process.on("message", (message: Request) => {
    if ("orders" in message) answer(role.prepare(message.orders));
    else if ("measure" in message) answer(role.measure?.(message.measure) ?? Promise.resolve(Number.NaN));
    else if ("zeroAtMs" in message) role.begin(message.zeroAtMs);
    else answer(role.end());
  });
}

function answer(result: Promise<unknown>): void {
  result.then(
    (value) => process.send?.({ value }),
    (error) => process.send?.({ error: said(error) }),
  );
}

/** An error in words: what the user can do something about without a stack. */
function said(error: unknown): string {
  if (error instanceof BusyPortError) return error.message;
  return error instanceof Error ? String(error.stack) : String(error);
}
