/** The request that is being served, carried by AsyncLocalStorage to the calls made for it. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Ambient } from "../facade/host.ts";

const requests: AsyncLocalStorage<Ambient | undefined> = new AsyncLocalStorage();

let hasReaders = false;

/**
 * Gives the request in whose course the present code runs, if any. Until somebody has asked for this, no request is
 * carried: a server that makes no guarded calls does not pay for it (4 µs a request on Node 20, where one store makes
 * every promise and timer of the process dearer).
 */
export function contextReader(): () => Ambient | undefined {
  hasReaders = true;
  return () => requests.getStore();
}

/** Runs `fn` in the course of `request`: guarded calls made from it inherit deadline, signal, criticality, tenant. */
export function inRequest<T>(request: Ambient, fn: () => T): T {
  return hasReaders ? requests.run(request, fn) : fn();
}

/** Runs `fn` in the course of no request: for work that outlives the one it was begun for. */
export function outsideRequest<T>(fn: () => T): T {
  return requests.getStore() === undefined ? fn() : requests.run(undefined, fn);
}
