/**
 * `fetch` as work of a guarded operation: it sends what the callee needs to know of the call, turns failed replies
 * into errors that the guards understand, and lasts, as an attempt, until the reply's body has ended.
 */
import type { Attempt } from "../../core/attempt.ts";
import { OptionError } from "../../core/errors.ts";
import { checkFunction, checkKeys, checkMs, checkNumber, checkOneOf } from "../../core/options.ts";
import { readShort } from "./error-body.ts";
import { holdUntilRead } from "./held-response.ts";
import { failureOf, HttpError } from "./http-error.ts";
import { sendOnce } from "./once-body.ts";
import { type FetchInit, type FetchInput, initOf, type WireOptions } from "./request.ts";

/** Options of `createFetch`. */
export interface FetchOptions {
  /**
   * Taken off the time left before it is sent, in ms: what the reply needs on its way back. Default 0, as in Envoy
   * and gRPC; measure it. With no more time left than this nothing is sent.
   */
  readonly marginMs?: number;
  /**
   * How `Idempotency-Key` is written: `quoted`, as the IETF draft says, or `bare`, as most payment providers document
   * it. Default `quoted`: who treats the key as opaque does not mind the quotes.
   */
  readonly idempotencyKey?: "quoted" | "bare";
  /**
   * Hosts that are told the call's criticality and tenant: `stock.internal`, `stock.internal:8080`, or `.internal`
   * for everything below it. Such requests do not follow redirects. Default: none.
   */
  readonly contextHosts?: readonly string[];
  /** How much of a failed reply is read, so that its socket can be used again. Default 16,384 (one TLS record). */
  readonly errorBodyBytes?: number;
  /** How long that may take, in ms, at most half of the time left. Default 100 (our choice: a round trip). */
  readonly errorBodyMs?: number;
  /** What sends. Default: the global `fetch`, looked up at each call. It must honour `signal`. */
  readonly fetch?: (input: FetchInput, init?: RequestInit) => Promise<Response>;
}

/** A `fetch` for attempts. */
export type GuardedFetch = (input: FetchInput, attempt: Attempt, init?: FetchInit) => Promise<Response>;

const KEYS = ["marginMs", "idempotencyKey", "contextHosts", "errorBodyBytes", "errorBodyMs", "fetch"];

interface Settings extends WireOptions {
  readonly errorBody: { readonly bytes: number; readonly ms: number };
  readonly send: NonNullable<FetchOptions["fetch"]>;
}

/** Makes a `fetch` with options. Throws an `OptionError` that names the field for a wrong one. */
export function createFetch(options: FetchOptions = {}): GuardedFetch {
  const settings = settingsOf(options);
  return (input, attempt, init = {}) => send(settings, input, attempt, init);
}

/**
 * Fetches for an attempt, with the default options. Resolves with a reply below 400, and rejects with an `HttpError`
 * for any other. The attempt lasts until the reply's body has been read or cancelled.
 */
export const fetch: GuardedFetch = createFetch();

function settingsOf(options: FetchOptions): Settings {
  checkKeys("createFetch", options, KEYS);
  const { marginMs = 0, idempotencyKey = "quoted", contextHosts = [] } = options;
  const { errorBodyBytes = 16_384, errorBodyMs = 100 } = options;
  if (
    !Array.isArray(contextHosts) ||
    !contextHosts.every((host) => typeof host === "string" && host !== "")
  ) {
    throw new OptionError("createFetch.contextHosts", contextHosts, "an array of host names");
  }
  const bytes = checkNumber("createFetch.errorBodyBytes", errorBodyBytes, { max: 1_048_576, integer: true });
  return {
    marginMs: checkMs("createFetch.marginMs", marginMs),
    idempotencyKey: checkOneOf("createFetch.idempotencyKey", idempotencyKey, ["quoted", "bare"]),
    contextHosts: [...contextHosts],
    errorBody: { bytes, ms: checkMs("createFetch.errorBodyMs", errorBodyMs) },
    send: options.fetch === undefined ? globalFetch : checkFunction("createFetch.fetch", options.fetch),
  };
}

function globalFetch(input: FetchInput, init?: RequestInit): Promise<Response> {
  return globalThis.fetch(input, init);
}

async function send(
  settings: Settings,
  input: FetchInput,
  attempt: Attempt,
  init: FetchInit,
): Promise<Response> {
  const made = initOf(input, attempt, init, settings);
  const once = sendOnce(input, init);
  if (once !== null) made.duplex ??= "half";
  const release = attempt.hold();
  try {
    const response = await settings.send(input, made);
    if (attempt.signal.aborted) {
      await response.body?.cancel();
      throw attempt.signal.reason;
    }
    if (response.status < 400) {
      const request = input instanceof Request ? input : null;
      return holdUntilRead(response, made.signal as AbortSignal, release, request);
    }
    throw await errorOf(settings, input, attempt, init, response);
  } catch (error) {
    if (once !== null) once.error = error;
    release();
    throw error;
  }
}

async function errorOf(
  { errorBody }: Settings,
  input: FetchInput,
  attempt: Attempt,
  init: FetchInit,
  response: Response,
): Promise<HttpError> {
  const failure = failureOf(response.status, response.headers, attempt.number, Date.now());
  const ms = Math.min(errorBody.ms, attempt.timeLeftMs / 2);
  const body = await readShort(response, { bytes: errorBody.bytes, ms }, attempt.runtime);
  return new HttpError(nameOf(input, init, response), response, body, failure);
}

/** Method and address, without what may be secret in it. */
function nameOf(input: FetchInput, init: FetchInit, response: Response): string {
  const request = input instanceof Request ? input : null;
  const method = init.method ?? request?.method ?? "GET";
  const url = response.url || request?.url || String(input);
  return `${method} ${url.replace(/[?#].*$/, "").replace(/\/\/[^/]*@/, "//")}`;
}
