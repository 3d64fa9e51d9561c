/**
 * A service's places: how many requests it works on, and the queue in front of them, as the system file says.
 *
 * Where callers say when they give up, the service is a guarded one: it reads the time left, drops what has expired
 * and stops working for clients that have gone. As shipped it knows none of this: whoever arrives is served in the
 * end, whether or not anybody still waits. Both use the library's bulkhead and its queue.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Bulkhead, dependency } from "plimsoll";
import { guardedHandler } from "plimsoll/http";
import { bindQueue, type SystemFile } from "plimsoll/system";

/** Answers one request; its places are held until the promise has settled. */
export type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A service that listens. */
export interface Service {
  readonly port: number;
  /** The places. */
  readonly bulkhead: Bulkhead;
}

/** Opens `name` on a free port of the loopback. `caller` is who calls it, for what travels on the wire. */
export async function open(system: SystemFile, name: string, caller: string, serve: Serve): Promise<Service> {
  const { places = 1_000_000, queue } = system.services[name] ?? {};
  const options = { limit: places, ...(queue !== undefined && { queue: bindQueue(queue) }) };
  const { wire } = system.edges[`${caller} -> ${name}`] ?? {};
  const { listener, bulkhead } =
    wire?.cancel === true ? guarded(name, options, serve) : asShipped(name, options, serve);
  const server = createServer(listener);
  return { port: await listen(server), bulkhead };
}

type Opened = { listener: Parameters<typeof createServer>[1] & object; bulkhead: Bulkhead };
type Places = { limit: number; queue?: ReturnType<typeof bindQueue> };

function guarded(name: string, bulkhead: Places, serve: Serve): Opened {
  const handler = guardedHandler({ name, bulkhead, onError: () => {} }, serve);
  return { listener: handler, bulkhead: handler.bulkhead as Bulkhead };
}

function asShipped(name: string, bulkhead: Places, serve: Serve): Opened {
  const service = dependency({ name, bulkhead, budget: "none" });
  const request = service.operation("request");
  return {
    listener: (incoming: IncomingMessage, response: ServerResponse) => {
      request(() => serve(incoming, response)).catch(() => response.destroy());
    },
    bulkhead: service.bulkhead as Bulkhead,
  };
}

function listen(server: Server): Promise<number> {
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () =>
      resolve((server.address() as AddressInfo).port),
    );
  });
}

/** Answers with a small JSON body. */
export function reply(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  if (response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": text.length,
    ...headers,
  });
  response.end(text);
}

/** Answers that there is no answer; `final` says that another try would be no better. */
export function unavailable(response: ServerResponse, final: boolean): void {
  reply(response, 503, {}, final ? { "retry-after": "1", "x-envoy-overloaded": "true" } : {});
}
