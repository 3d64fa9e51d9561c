/** `plimsoll/fetch`: fetch as the work of a guarded operation, and a fetch under guards for whatever takes one. */
export { type FetchGuardOptions, guard } from "../http-clients/guarded-fetch.ts";
export type { HttpClientOptions } from "../http-clients/methods.ts";
export { createFetch, type FetchOptions, fetch, type GuardedFetch } from "./fetch.ts";
export { HttpError, type HttpFailure } from "./http-error.ts";
export { BodyUsedError } from "./once-body.ts";
export type { FetchInit, FetchInput } from "./request.ts";
