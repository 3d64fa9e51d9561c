/** `plimsoll/axios`: an instance of axios under guards. Needs the optional peer `axios`. */
import { finished, Readable } from "node:stream";
import axios, {
  type AxiosAdapter,
  type AxiosError,
  AxiosHeaders,
  type AxiosInstance,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from "axios";
import type { Attempt } from "../../core/attempt.ts";
import type { Runtime } from "../../core/runtime.ts";
import { exchange } from "../http-clients/exchange.ts";
import { canRepeat, type ReplyHead } from "../http-clients/meaning.ts";
import { checkInstance, type HttpClientOptions, Methods } from "../http-clients/methods.ts";
import { IDEMPOTENCY_KEY } from "../wire/headers.ts";

export type { HttpClientOptions } from "../http-clients/methods.ts";

/** A reply, and what axios makes of it: a response, or an error that carries it. */
interface Reply extends ReplyHead {
  readonly response: AxiosResponse;
  readonly error: AxiosError | null;
}

/** A cancel token as a signal. A token may outlive many requests, and remembers all who have not unsubscribed. */
interface CancelSignal extends AbortSignal {
  unsubscribe(): void;
}

/**
 * An axios whose every request is a guarded call, made with the defaults of the one that is given, which stays as it is;
 * interceptors are added to the new one. Throws an `OptionError` for a wrong option.
 */
export function guard(instance: AxiosInstance, options: HttpClientOptions, runtime?: Runtime): AxiosInstance {
  checkInstance(instance, "create", "axios, or what axios.create() gives");
  const methods = new Methods(options, runtime);
  const { adapter } = instance.defaults;
  const config = { adapter: guarded(methods, (request) => axios.getAdapter(adapter, request)(request)) };
  return instance.create({ ...config, timeout: 0 });
}

function guarded(methods: Methods, inner: AxiosAdapter): AxiosAdapter {
  return async (config) => {
    const cancelled = config.cancelToken?.toAbortSignal() as CancelSignal | undefined;
    const { response, error } = await exchange<Reply>(methods, {
      method: config.method ?? "get",
      signals: [config.signal as AbortSignal | undefined, cancelled],
      idempotencyKey: config.headers.get(IDEMPOTENCY_KEY)?.toString(),
      repeatable: canRepeat(config.data),
      send: (attempt, told) => send(inner, config, attempt, told),
      discard: ({ response: { data } }) => void (data instanceof Readable && data.destroy()),
    }).finally(() => cancelled?.unsubscribe());
    // What an interceptor sends again is the caller's request, not the attempt's.
    response.config = config;
    if (error === null) return response;
    error.config = config;
    throw error;
  };
}

async function send(
  inner: AxiosAdapter,
  config: InternalAxiosRequestConfig,
  attempt: Attempt,
  told: Record<string, string>,
): Promise<Reply> {
  const { cancelToken, ...rest } = config;
  const sent = { ...rest, headers: new AxiosHeaders(config.headers).set(told), signal: attempt.signal };
  const settled = await inner(sent).then(
    (response) => ({ response, error: null }),
    (error: unknown) => {
      if (!axios.isAxiosError(error) || error.response === undefined) throw error;
      return { response: error.response, error };
    },
  );
  const { data, headers, status } = settled.response;
  if (status < 400 && data instanceof Readable) holdUntilEnd(data, attempt);
  const read = AxiosHeaders.from(headers as AxiosHeaders);
  return { ...settled, status, headers: { get: (name) => read.get(name)?.toString() ?? null } };
}

/** With `responseType: "stream"` the attempt lasts as long as the stream. */
function holdUntilEnd(stream: Readable, attempt: Attempt): void {
  finished(stream, attempt.hold()); // axios ends it when the attempt's signal fires
}
