/** `plimsoll/http`: guards for a bare `node:http` server. */
export type { TimeLeftHeader } from "../wire/deadline-header.ts";
export { ClientGoneError, type Handler, type RequestContext } from "./exchange.ts";
export { type GuardedHandler, guardedHandler, type ServerStats } from "./handler.ts";
export type { HandlerOptions } from "./options.ts";
