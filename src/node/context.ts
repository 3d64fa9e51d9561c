/** The request that is being served, carried by AsyncLocalStorage to the calls made for it. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Ambient } from "../facade/host.ts";

const requests: AsyncLocalStorage<Ambient> = new AsyncLocalStorage();

/** The request in whose course the present code runs, if any. */
export function ambient(): Ambient | undefined {
  return requests.getStore();
}

/** Runs `fn` in the course of `request`: guarded calls made from it inherit deadline, signal, criticality, tenant. */
export function inRequest<T>(request: Ambient, fn: () => T): T {
  return requests.run(request, fn);
}
