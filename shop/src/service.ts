/**
 * A service: a Fastify app whose server stands behind the library's places.
 *
 * Where callers say when they give up, the server is a guarded one: it reads the time left, drops what has expired
 * and stops working for clients that have gone. As shipped it knows none of this: whoever arrives is served in the
 * end, whether or not anybody still waits. Both use the library's bulkhead and its queue, as the system file says.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { type Bulkhead, dependency } from "plimsoll";
import { guardedHandler, type RequestContext } from "plimsoll/http";
import { bindQueue, type SystemFile } from "plimsoll/system";
import { listenOn } from "./ports.ts";

/** What a route is told of its request. */
export interface Incoming {
  /** Whose action it serves: one number, whatever the attempt. */
  readonly action: string;
  /** The name under which the action is followed, if it is. */
  readonly trace: string | undefined;
  /** When it arrived, on the clock of `performance.now()`. */
  readonly arrivedAt: number;
  /** What was left of its time then, in ms; `Infinity` when it did not say. */
  readonly leftMs: number;
}

/** What a route answers. */
export interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers one request; its place is held until the promise has settled. */
export type Route = (incoming: Incoming) => Promise<Answer>;

/** A service that listens. */
export interface Service {
  readonly port: number;
  /** The places. */
  readonly bulkhead: Bulkhead;
}

/** Who serves whom, and where. */
export interface Place {
  readonly name: string;
  /** Who calls it, for what travels on the wire. */
  readonly caller: string;
  /** Where to listen; without it on a free port. */
  readonly port: number | undefined;
}

/** Opens a service on the loopback, with a route by path. */
export async function open(
  system: SystemFile,
  { name, caller, port }: Place,
  routes: Record<string, Route>,
): Promise<Service> {
  const { places = 1_000_000, queue } = system.services[name] ?? {};
  const options = { limit: places, ...(queue !== undefined && { queue: bindQueue(queue) }) };
  const { wire } = system.edges[`${caller} -> ${name}`] ?? {};
  let own: Handle = () => {};
  const opened = wire?.cancel === true ? guarded : asShipped;
  const { listener, bulkhead } = opened(name, options, (request, response) => own(request, response));
  const app = fastify({
    serverFactory: (handle) => {
      own = handle;
      const server = createServer(listener);
      server.keepAliveTimeout = 60_000;
      return server;
    },
  });
  for (const [path, route] of Object.entries(routes)) {
    app.post(path, (request, reply) => serve(route, request, reply));
  }
  await app.ready();
  return { port: await listenOn(port, app.server), bulkhead };
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;
type Opened = { readonly listener: Handle; readonly bulkhead: Bulkhead };
type Places = { limit: number; queue?: ReturnType<typeof bindQueue> };

/** A request between its arrival at the server and the end of its route. */
interface Work {
  readonly arrivedAt: number;
  readonly leftMs: number;
  routed: boolean;
  readonly ended: () => void;
}

const works: WeakMap<IncomingMessage, Work> = new WeakMap();

function guarded(name: string, bulkhead: Places, handle: Handle): Opened {
  const served = (request: IncomingMessage, response: ServerResponse, context: RequestContext) =>
    workOn(handle, request, response, context.arrivedAt, context.deadline - context.arrivedAt);
  const listener = guardedHandler({ name, bulkhead, onError: () => {} }, served);
  return { listener, bulkhead: listener.bulkhead as Bulkhead };
}

function asShipped(name: string, bulkhead: Places, handle: Handle): Opened {
  const service = dependency({ name, bulkhead, budget: "none" });
  const request = service.operation("request");
  const listener: Handle = (incoming, response) => {
    const arrivedAt = performance.now();
    request(() => workOn(handle, incoming, response, arrivedAt, Infinity)).catch(() => response.destroy());
  };
  return { listener, bulkhead: service.bulkhead as Bulkhead };
}

/** Hands a request to Fastify. Ends with its route; without one (Fastify itself has answered) with the response. */
function workOn(
  handle: Handle,
  request: IncomingMessage,
  response: ServerResponse,
  arrivedAt: number,
  leftMs: number,
): Promise<void> {
  return new Promise((ended) => {
    const work: Work = { arrivedAt, leftMs, routed: false, ended };
    works.set(request, work);
    response.once("close", () => {
      if (!work.routed) ended();
    });
    handle(request, response);
  });
}

async function serve(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const work = works.get(request.raw) as Work;
  work.routed = true;
  const { "x-action": action, "x-trace": trace } = request.headers as Record<string, string | undefined>;
  try {
    const {
      status,
      body,
      headers = {},
    } = await route({
      action: String(action),
      trace,
      arrivedAt: work.arrivedAt,
      leftMs: work.leftMs,
    });
    // Nobody is there to hear it, or the server has already said that it is too late.
    if (reply.raw.destroyed || reply.raw.writableEnded) return reply.hijack();
    return reply.code(status).headers(headers).send(body);
  } finally {
    work.ended();
  }
}

/** There is no answer; `final` says that another try would be no better. */
export function unavailable(final: boolean): Answer {
  const headers = { "retry-after": "1", "x-envoy-overloaded": "true" };
  return final ? { status: 503, body: {}, headers } : { status: 503, body: {} };
}
