/**
 * One request of got as a guarded call. A got request knows only one series of attempts, its own; so each attempt is a
 * request of its own, made from the same merged options, and what the caller holds is a promise for the last of them
 * that can do what got's can: `json()`, `text()`, `buffer()`, `on()`, `off()`, `cancel()`.
 */
import { type CancelableRequest, type Got, Options, type Response } from "got";
import { CancelledError } from "../../core/errors.ts";
import { exchange } from "../http-clients/exchange.ts";
import { canRepeat, plainHeaders, type ReplyHead } from "../http-clients/meaning.ts";
import type { Methods } from "../http-clients/methods.ts";
import { IDEMPOTENCY_KEY } from "../wire/headers.ts";

type Listener = (...words: unknown[]) => void;
type Shortcut = "json" | "text" | "buffer";

/** A reply, and what got makes of it: a value, or an error that carries it. */
interface Reply extends ReplyHead {
  readonly request: CancelableRequest;
  readonly value: unknown;
  readonly error: unknown;
}

/** No retries, whatever the request says; a hook that sends once more (a new token) still may. */
const ONCE = {
  limit: 0,
  calculateDelay: ({ computedValue }: { computedValue: number }): number => computedValue,
};

/** Makes the request under guards. What is wrong, and what is a stream, is got's own business. */
export function guarded(
  methods: Methods,
  got: Got,
  url: unknown,
  options?: object,
  defaults?: object,
): unknown {
  const merged = mergedOf(got, url, options, defaults);
  if (merged === null) return (got as (...words: unknown[]) => unknown)(url, options, defaults);
  return new GuardedRequest(methods, got, merged).promise;
}

function mergedOf(got: Got, url: unknown, options?: object, defaults?: object): Options | null {
  try {
    const merged = new Options(url as string, options, (defaults ?? got.defaults.options) as Options);
    if (merged.isStream) return null;
    merged.hooks.init.length = 0; // they have changed the request; on each attempt they would change it further
    return merged;
  } catch {
    return null;
  }
}

class GuardedRequest {
  readonly promise: Promise<unknown>;
  private readonly got: Got;
  private readonly options: Options;
  private readonly cancelling = new AbortController();
  private readonly listeners: [event: string, listener: Listener][] = [];
  /** Asked for by `json()`, which comes after the request was made. */
  private accept: string | undefined;
  /** The attempt that is under way, or was the last to be. */
  private present: CancelableRequest | null = null;
  /** The one whose reply the caller gets. */
  private last: CancelableRequest | null = null;

  constructor(methods: Methods, got: Got, options: Options) {
    this.got = got;
    this.options = options;
    this.promise = this.dressed(this.run(methods));
  }

  private async run(methods: Methods): Promise<unknown> {
    await undefined; // as got does: the caller may still say `json()`
    const { options, cancelling } = this;
    const reply = await exchange<Reply>(methods, {
      method: options.method,
      signals: [options.signal, cancelling.signal],
      idempotencyKey: options.headers[IDEMPOTENCY_KEY]?.toString(),
      repeatable: canRepeat(options.body),
      send: (attempt, told) => this.send(told, attempt.signal),
      discard: () => {}, // got has read it
    });
    this.last = reply.request;
    if (reply.error !== null) throw reply.error;
    return reply.value;
  }

  /** One attempt: a request of got's own. */
  private async send(headers: Record<string, string>, signal: AbortSignal): Promise<Reply> {
    if (this.accept !== undefined && this.options.headers.accept === undefined) headers.accept = this.accept;
    const make = this.got as unknown as (url: undefined, changes: object, of: Options) => CancelableRequest;
    const request = make(undefined, { headers, signal, retry: ONCE }, this.options);
    this.present = request;
    let head: Response | undefined;
    request.on("response", (response) => {
      head = response;
    });
    for (const [event, listener] of this.listeners) request.on(event as "request", listener);
    const settled = await request.then(
      (value) => ({ value, error: null }),
      (error: unknown) => {
        if ((error as Error).name !== "HTTPError") throw error;
        return { value: undefined, error };
      },
    );
    // A hook may have answered without a request.
    return {
      ...settled,
      request,
      status: head?.statusCode ?? 200,
      headers: plainHeaders(head?.headers ?? {}),
    };
  }

  /** Gives a promise what got's have. */
  private dressed<T>(promise: Promise<T>): Promise<T> {
    const shortcut = (as: Shortcut, accept?: string) => (): Promise<unknown> => {
      this.accept ??= accept;
      return this.dressed(promise.then(() => (this.last as CancelableRequest)[as]()));
    };
    return Object.defineProperties(promise, {
      json: { value: shortcut("json", "application/json") },
      text: { value: shortcut("text") },
      buffer: { value: shortcut("buffer") },
      cancel: { value: () => this.cancelling.abort(new CancelledError()) },
      isCanceled: { get: () => this.cancelling.signal.aborted },
      on: { value: (event: string, listener: Listener) => this.listen(promise, event, listener) },
      off: { value: (event: string, listener: Listener) => this.unlisten(promise, event, listener) },
    });
  }

  private listen<T>(promise: T, event: string, listener: Listener): T {
    this.listeners.push([event, listener]);
    this.present?.on(event as "request", listener);
    return promise;
  }

  private unlisten<T>(promise: T, event: string, listener: Listener): T {
    const at = this.listeners.findIndex(([name, each]) => name === event && each === listener);
    if (at >= 0) this.listeners.splice(at, 1);
    this.present?.off(event as "request", listener);
    return promise;
  }
}
