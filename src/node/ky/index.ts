/** `plimsoll/ky`: an instance of ky under guards. Needs the optional peer `ky`. */
import type { KyInstance } from "ky";
import type { Runtime } from "../../core/runtime.ts";
import { FetchGuard, type FetchGuardOptions } from "../http-clients/guarded-fetch.ts";
import { canRepeat } from "../http-clients/meaning.ts";
import { checkInstance } from "../http-clients/methods.ts";

export type { FetchGuardOptions } from "../http-clients/guarded-fetch.ts";
export type { HttpClientOptions } from "../http-clients/methods.ts";

/**
 * A ky whose every request is a guarded call; the one that is given stays as it is. ky's own retries and its timeout
 * are off in it. Throws an `OptionError` for a wrong option.
 */
export function guard(ky: KyInstance, options: FetchGuardOptions, runtime?: Runtime): KyInstance {
  checkInstance(ky, "extend", "ky, or what ky.create() gives");
  const guarded = new FetchGuard(options, runtime);
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
    fetch: (input, init) => {
      const request = input as Request;
      return guarded.send(request, init, request.body === null || repeatable.has(request));
    },
  });
}
