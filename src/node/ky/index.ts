/** `plimsoll/ky`: an instance of ky under guards. Needs the optional peer `ky`. */
import type { KyInstance } from "ky";
import type { Attempt } from "../../core/attempt.ts";
import { checkFunction } from "../../core/options.ts";
import type { Runtime } from "../../core/runtime.ts";
import { readShort } from "../fetch/error-body.ts";
import { holdUntilRead } from "../fetch/held-response.ts";
import { exchange } from "../http-clients/exchange.ts";
import { canRepeat } from "../http-clients/meaning.ts";
import { type HttpClientOptions, Methods } from "../http-clients/methods.ts";
import { IDEMPOTENCY_KEY } from "../wire/headers.ts";

export type { HttpClientOptions } from "../http-clients/methods.ts";

type Fetch = (input: Request, init?: RequestInit) => Promise<Response>;

/** Options of `guard`. */
export interface KyGuardOptions extends HttpClientOptions {
  /** What sends. Default: the global `fetch`, looked up at each call. It must honour `signal`. */
  readonly fetch?: (input: Request, init?: RequestInit) => Promise<Response>;
}

/** What is read of a reply that nobody wants: one TLS record, for a round trip. */
const DISCARD = { bytes: 16_384, ms: 100 };

/**
 * A ky whose every request is a guarded call; the one that is given stays as it is. ky's own retries and its timeout
 * are off in it. Throws an `OptionError` for a wrong option.
 */
export function guard(ky: KyInstance, options: KyGuardOptions, runtime?: Runtime): KyInstance {
  const { fetch: given, ...rest } = options;
  const send: Fetch =
    given === undefined
      ? (input, init) => globalThis.fetch(input, init)
      : checkFunction("guard.fetch", given);
  const methods = new Methods(rest, runtime);
  /** Requests of which it is known that their body can be sent again. ky makes a stream of every body. */
  const repeatable = new WeakSet<Request>();
  return ky.extend({
    retry: { limit: 0 },
    timeout: false,
    hooks: {
      beforeRequest: [
        (request, { body }) => {
          if (body != null && canRepeat(body)) repeatable.add(request);
        },
      ],
    },
    fetch: (input, init) => guardedFetch(methods, send, input as Request, init, repeatable),
  });
}

function guardedFetch(
  methods: Methods,
  fetch: Fetch,
  request: Request,
  init: RequestInit | undefined,
  known: WeakSet<Request>,
): Promise<Response> {
  const repeatable = request.body === null || known.has(request);
  return exchange<Response>(methods, {
    method: request.method,
    signal: request.signal,
    idempotencyKey: request.headers.get(IDEMPOTENCY_KEY),
    repeatable,
    async send(attempt, told) {
      const headers = new Headers(request.headers);
      for (const [name, value] of Object.entries(told)) headers.set(name, value);
      const release = attempt.hold();
      try {
        const copy = repeatable && request.body !== null ? request.clone() : request;
        const response = await fetch(copy, { ...init, headers, signal: attempt.signal });
        if (response.status < 400) return holdUntilRead(response, attempt, release);
        release();
        return response;
      } catch (error) {
        release();
        throw error;
      }
    },
    discard: (response, attempt: Attempt) => void readShort(response, DISCARD, attempt.runtime),
  });
}
