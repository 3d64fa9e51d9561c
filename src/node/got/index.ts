/** `plimsoll/got`: an instance of got under guards. Needs the optional peer `got`. */
import type { ExtendOptions, Got } from "got";
import type { Runtime } from "../../core/runtime.ts";
import { checkInstance, type HttpClientOptions, Methods } from "../http-clients/methods.ts";
import { guarded } from "./request.ts";

export type { HttpClientOptions } from "../http-clients/methods.ts";

const ALIASES = ["get", "post", "put", "patch", "head", "delete"];

type Call = (url?: unknown, options?: object, defaults?: object) => unknown;

/**
 * A got whose every request is a guarded call; the one that is given stays as it is. got's own retries are off in it.
 * `stream` and `paginate` pass unguarded. Throws an `OptionError` for a wrong option.
 */
export function guard<O extends ExtendOptions>(
  got: Got<O>,
  options: HttpClientOptions,
  runtime?: Runtime,
): Got<O> {
  checkInstance(got, "extend", "got, or what got.extend() gives");
  const methods = new Methods(options, runtime);
  return around(methods, got as Got) as Got<O>;
}

function around(methods: Methods, got: Got): Got {
  const quiet = got.extend({ retry: { limit: 0 } }) as Got;
  const call: Call = (url, options, defaults) => guarded(methods, quiet, url, options, defaults);
  return new Proxy(quiet, {
    apply: (_, __, [url, options, defaults]) => call(url, options, defaults),
    get(target, name) {
      if (name === "extend")
        return (...more: Parameters<Got["extend"]>) => around(methods, quiet.extend(...more) as Got);
      if (typeof name !== "string" || !ALIASES.includes(name)) return Reflect.get(target, name);
      return (url: unknown, options: object) => call(url, { ...options, method: name });
    },
  });
}
