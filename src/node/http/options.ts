/** Options of a guarded handler, checked when it is made. */
import type { IncomingMessage } from "node:http";
import type { BulkheadOptions } from "../../core/bulkhead/guard.ts";
import { OptionError } from "../../core/errors.ts";
import { checkFunction, checkKeys, checkMs, checkOneOf, orDefault } from "../../core/options.ts";
import { TIME_LEFT_HEADERS, type TimeLeftHeader } from "../wire/deadline-header.ts";

/** How a server's requests are guarded. All of it is optional; what is left out is not there. */
export interface HandlerOptions {
  /** Names the server in errors and events. Default `server`. */
  readonly name?: string;
  /**
   * Caps the requests in work, and says who may wait. A place is held until the handler's promise has settled, even
   * if its client has long been answered. Default: no cap, since a limit must be measured.
   */
  readonly bulkhead?: BulkheadOptions;
  /** How long a request may take that says nothing about it, in ms, 1 to 2^31 − 1. Default: no limit. */
  readonly defaultTimeoutMs?: number;
  /** How long any request may take at most, in ms, 1 to 2^31 − 1, whatever it says. Default: no limit. */
  readonly maxTimeoutMs?: number;
  /** A request with less time left than this, in ms, 0 to 2^31 − 1, is not started. Default 0. */
  readonly minUsefulMs?: number;
  /** Where the time left is read; the first that says something counts. Default: Envoy's, gRPC's, Connect's. */
  readonly deadlineHeaders?: readonly TimeLeftHeader[];
  /** What becomes of a request whose time left cannot be read: taken as if it said nothing, or 400. Default `ignore`. */
  readonly invalidDeadline?: "ignore" | "reject";
  /**
   * Bounds of `Retry-After` in a refusal, in ms, 0 to 2^31 − 1, sent as whole seconds. Default 1,000 to 3,000 (our
   * choice).
   */
  readonly retryAfterMs?: { readonly min: number; readonly max: number };
  /** Whether what a request says about criticality and tenant is believed. Default: never. */
  trust?(request: IncomingMessage): boolean;
  /** Requests that no guard touches: health checks, controls. Default: none. */
  exempt?(request: IncomingMessage): boolean;
  /** Hears what a handler threw; its client is told nothing but 500. Default: `console.error`. */
  onError?(error: unknown, request: IncomingMessage): void;
}

/** The same, checked and complete. */
export interface HandlerSettings {
  readonly defaultTimeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly deadlineHeaders: readonly TimeLeftHeader[];
  readonly invalidDeadline: "ignore" | "reject";
  readonly retryAfterMs: { readonly min: number; readonly max: number };
  readonly trust: (request: IncomingMessage) => boolean;
  readonly exempt: (request: IncomingMessage) => boolean;
  readonly onError: (error: unknown, request: IncomingMessage) => void;
}

const KEYS = [
  "name",
  "bulkhead",
  "defaultTimeoutMs",
  "maxTimeoutMs",
  "minUsefulMs",
  "deadlineHeaders",
  "invalidDeadline",
  "retryAfterMs",
  "trust",
  "exempt",
  "onError",
];

const no = (): boolean => false;
const report = (error: unknown): void => console.error(error);

/** Checks everything that the kernel does not check itself. Throws an `OptionError` that names the field. */
export function settingsOf(options: HandlerOptions): HandlerSettings {
  checkKeys("guardedHandler", options, KEYS);
  const { deadlineHeaders = TIME_LEFT_HEADERS, invalidDeadline = "ignore", retryAfterMs } = options;
  return {
    defaultTimeoutMs: checkLimit("defaultTimeoutMs", options.defaultTimeoutMs),
    maxTimeoutMs: checkLimit("maxTimeoutMs", options.maxTimeoutMs),
    deadlineHeaders: checkHeaders(deadlineHeaders),
    invalidDeadline: checkOneOf("guardedHandler.invalidDeadline", invalidDeadline, ["ignore", "reject"]),
    retryAfterMs: checkRange(orDefault(retryAfterMs, { min: 1_000, max: 3_000 })),
    trust: checkFunction("guardedHandler.trust", orDefault(options.trust, no)),
    exempt: checkFunction("guardedHandler.exempt", orDefault(options.exempt, no)),
    onError: checkFunction("guardedHandler.onError", orDefault(options.onError, report)),
  };
}

function checkLimit(field: string, value: number | undefined): number {
  return value === undefined ? Infinity : checkMs(`guardedHandler.${field}`, value, { min: 1 });
}

function checkHeaders(headers: readonly TimeLeftHeader[]): readonly TimeLeftHeader[] {
  const field = "guardedHandler.deadlineHeaders";
  if (!Array.isArray(headers)) throw new OptionError(field, headers, "an array of header names");
  return headers.map((header, index) => checkOneOf(`${field}[${index}]`, header, TIME_LEFT_HEADERS));
}

function checkRange(range: { readonly min: number; readonly max: number }): { min: number; max: number } {
  const field = "guardedHandler.retryAfterMs";
  checkKeys(field, range, ["min", "max"]);
  const min = checkMs(`${field}.min`, range.min);
  return { min, max: checkMs(`${field}.max`, range.max, { min }) };
}
