/** `plimsoll/fetch`: fetch as the work of a guarded operation. */
export { createFetch, type FetchOptions, fetch, type GuardedFetch } from "./fetch.ts";
export { HttpError, type HttpFailure } from "./http-error.ts";
export { BodyUsedError } from "./once-body.ts";
export type { FetchInit, FetchInput } from "./request.ts";
