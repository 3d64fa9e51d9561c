/** A `fetch` whose every request is a guarded call: for an SDK, or a client, that takes a `fetch` of one's own. */
import type { Attempt } from "../../core/attempt.ts";
import { checkFunction } from "../../core/options.ts";
import { MAX_TIMER_MS, type Runtime } from "../../core/runtime.ts";
import { TimedOut } from "../../core/timed-out.ts";
import { readShort } from "../fetch/error-body.ts";
import { holdUntilRead } from "../fetch/held-response.ts";
import { IDEMPOTENCY_KEY } from "../wire/headers.ts";
import { exchange } from "./exchange.ts";
import { canRepeat } from "./meaning.ts";
import { type HttpClientOptions, Methods } from "./methods.ts";

/** What sends a request. */
export type Send = (input: Request, init?: RequestInit) => Promise<Response>;

/** Options of `guard`. */
export interface FetchGuardOptions extends HttpClientOptions {
  /** What sends. Default: the global `fetch`, looked up at each call. It must honour `signal`. */
  readonly fetch?: (input: Request, init?: RequestInit) => Promise<Response>;
}

/** What is read of a reply that nobody wants: one TLS record, for a round trip. */
const DISCARD = { bytes: 16_384, ms: 100 };

/** Sends requests as guarded calls. */
export class FetchGuard {
  private readonly methods: Methods;
  private readonly fetch: Send;

  constructor({ fetch, ...options }: FetchGuardOptions, runtime?: Runtime) {
    this.fetch =
      fetch === undefined
        ? (input, init) => globalThis.fetch(input, init)
        : checkFunction("guard.fetch", fetch);
    this.methods = new Methods(options, runtime);
  }

  /** Sends a request, whose body can be sent again if it is `repeatable`. */
  send(request: Request, init: RequestInit | undefined, repeatable: boolean): Promise<Response> {
    return exchange<Response>(this.methods, {
      method: request.method,
      signals: [request.signal],
      idempotencyKey: request.headers.get(IDEMPOTENCY_KEY),
      repeatable,
      send: (attempt, told) => this.sendOnce(request, init, repeatable, attempt, told),
      discard: (response, attempt: Attempt) => void readShort(response, DISCARD, attempt.runtime),
    });
  }

  private async sendOnce(
    request: Request,
    init: RequestInit | undefined,
    repeatable: boolean,
    attempt: Attempt,
    told: Record<string, string>,
  ): Promise<Response> {
    const late = new AbortController();
    const signal = AbortSignal.any([attempt.signal, request.signal, late.signal]);
    const headers = new Headers(request.headers);
    for (const [name, value] of Object.entries(told)) headers.set(name, value);
    const release = attempt.hold();
    try {
      const copy = repeatable && request.body !== null ? request.clone() : request;
      const response = await this.fetch(copy, { ...init, headers, signal });
      if (response.status < 400) return holdUntilRead(response, signal, release, request);
      release();
      // The attempt has ended; what of its time is left bounds the body all the same. (No Response is made above 599.)
      if (response.status > 599) return response;
      return holdUntilRead(response, signal, abortAtEnd(attempt, late), request);
    } catch (error) {
      release();
      throw error;
    }
  }
}

/** Aborts at the end of the attempt's time, unless what is returned is called before. */
function abortAtEnd(
  { call, deadline, runtime, sentAt, timeLeftMs }: Attempt,
  late: AbortController,
): () => void {
  if (timeLeftMs > MAX_TIMER_MS) return () => {};
  const timer = runtime.after(timeLeftMs, () => {
    late.abort(new TimedOut(call, deadline - sentAt, call.deadline <= deadline).error);
  });
  return () => runtime.cancel(timer);
}

/**
 * A `fetch` whose every request is a guarded call, for whatever takes a `fetch`. A reply that is not tried again is given
 * as it is, whatever its status; a refusal is a `RefusedError`, a timeout a `TimeoutError`. Switch the retries of what it
 * is given to off. Throws an `OptionError` for a wrong option.
 */
export function guard(
  options: FetchGuardOptions,
  runtime?: Runtime,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  const guarded = new FetchGuard(options, runtime);
  /** What a request was made of: it hears the signal of that one only while somebody holds it. */
  const origins = new WeakMap<Request, Request>();
  return async (input, init = {}) => {
    const request = new Request(input, init);
    if (input instanceof Request) origins.set(request, input);
    const { body, ...rest } = init;
    const repeatable = request.body === null || (body != null && canRepeat(body));
    return guarded.send(request, rest, repeatable);
  };
}
