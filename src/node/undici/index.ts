/**
 * Guards for undici, as an interceptor: `new Pool(url).compose(guard({ name: "stock", … }))`. For undici 7 and 8; use
 * the package's own `request` and `fetch` with what is composed, not Node's built-in `fetch`.
 */
import type { Dispatcher } from "undici";
import type { Runtime } from "../../core/runtime.ts";
import { type HttpClientOptions, Methods } from "../http-clients/methods.ts";
import { Exchange } from "./exchange.ts";

export type { HttpClientOptions as UndiciGuardOptions } from "../http-clients/methods.ts";

/**
 * An interceptor that makes every request a guarded call: deadline, attempts, budget, breaker, bulkhead. A reply that
 * is not tried again is passed on as it is, whatever its status; a refusal is a `RefusedError`, a timeout a
 * `TimeoutError`. CONNECT and upgrades pass unguarded. Use it in place of undici's own retry interceptor, not with it.
 * Throws an `OptionError` for a wrong option.
 */
export function guard(
  options: HttpClientOptions,
  runtime?: Runtime,
): Dispatcher.DispatcherComposeInterceptor {
  const methods = new Methods(options, runtime);
  return (dispatch) => (request, handler) => {
    if (request.method === "CONNECT" || request.upgrade) return dispatch(request, handler);
    void new Exchange(methods, dispatch, request, handler).run();
    return true;
  };
}
