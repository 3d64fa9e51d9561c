/**
 * A handler for a bare `node:http` server, under the core's own guards: the server is a dependency of itself, a
 * request is a call of it, and the handler is the work.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Attempt } from "../../core/attempt.ts";
import type { Bulkhead } from "../../core/bulkhead/guard.ts";
import { type CallFields, type Exit, type Failed, PLAIN_CALL, type Rejected } from "../../core/call.ts";
import { classify } from "../../core/classify.ts";
import { TimeoutError } from "../../core/errors.ts";
import { checkFunction } from "../../core/options.ts";
import { DependencyPolicy, type OperationPolicy } from "../../core/policy.ts";
import type { Random } from "../../core/random.ts";
import type { Runtime } from "../../core/runtime.ts";
import { nodeRuntime } from "../runtime.ts";
import {
  ATTEMPT_COUNT,
  CRITICALITY,
  NOT_EXECUTED,
  OVERLOADED,
  parseCriticality,
  parseTenant,
  TENANT,
} from "../wire/headers.ts";
import { Exchange, type Handler, type Host } from "./exchange.ts";
import { type HandlerOptions, type HandlerSettings, settingsOf } from "./options.ts";
import { mute, reply } from "./reply.ts";
import { timeLeftOf } from "./time-left.ts";

/** What became of the requests so far; exempt ones are not counted. */
export interface ServerStats {
  /** Answered by the handler, whatever it said. */
  readonly served: number;
  /** Refused before they were started: 503, or 400 for a deadline that cannot be read. */
  readonly refused: number;
  /** Answered by 504, or cut off, because their time was over. */
  readonly expired: number;
  /** Left by their clients. */
  readonly clientGone: number;
  /** Ended by an error of the handler. */
  readonly failed: number;
  /** Handlers that have not ended, those included whose client was answered long ago. */
  readonly inFlight: number;
  /** Waiting for a place. */
  readonly waiting: number;
}

/** A request listener with its guards. */
export interface GuardedHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** The counts at this moment. */
  readonly stats: ServerStats;
  /** The cap, to look at or to resize; null without one. */
  readonly bulkhead: Bulkhead | null;
}

/** Puts `handler` under guards: `createServer(guardedHandler({ bulkhead: { limit: 100 } }, handler))`. */
export function guardedHandler(
  options: HandlerOptions,
  handler: Handler,
  runtime: Runtime = nodeRuntime,
): GuardedHandler {
  const server = new GuardedServer(options, checkFunction("handler", handler), runtime);
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    server.handle(request, response);
  return Object.defineProperties(listener, {
    stats: { get: () => server.stats, enumerable: true },
    bulkhead: { value: server.bulkhead, enumerable: true },
  }) as GuardedHandler;
}

/**
 * How long a body may still take once its request was answered because its time was over: enough for the answer to be
 * read before the connection ends (our choice).
 */
const LINGER_MS = 1_000;

const perform = (attempt: Attempt, exchange: unknown): void => (exchange as Exchange).start(attempt);

class GuardedServer {
  readonly bulkhead: Bulkhead | null;
  readonly #settings: HandlerSettings;
  readonly #runtime: Runtime;
  readonly #random: Random;
  readonly #guarded: OperationPolicy;
  readonly #exempt: OperationPolicy;
  readonly #counted: Counts;
  readonly #uncounted: Counts;

  constructor(options: HandlerOptions, handler: Handler, runtime: Runtime) {
    this.#settings = settingsOf(options);
    const { name = "server", bulkhead, minUsefulMs = 0 } = options;
    this.#runtime = runtime;
    this.#random = runtime.random.fork(`retry-after ${name}`);
    const budget = "none";
    const policy = new DependencyPolicy(
      bulkhead === undefined ? { name, budget } : { name, budget, bulkhead },
      runtime,
      perform,
    );
    this.bulkhead = policy.bulkhead;
    this.#guarded = policy.operation("request", { minUsefulMs });
    this.#exempt = new DependencyPolicy({ name, budget }, runtime, perform).operation("exempt");
    const answer = (exchange: Exchange, exit: Exit): void => this.#answer(exchange, exit);
    this.#counted = new Counts(handler, answer);
    this.#uncounted = new Counts(handler, answer);
  }

  get stats(): ServerStats {
    const { served, refused, expired, clientGone, failed, inFlight } = this.#counted;
    return { served, refused, expired, clientGone, failed, inFlight, waiting: this.bulkhead?.waiting ?? 0 };
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    try {
      const exempt = this.#settings.exempt(request);
      this.#begin(request, response, exempt);
    } catch (error) {
      // The user's own `exempt` or `trust` has thrown.
      this.#counted.failed++;
      reply(response, 500);
      this.#settings.onError(error, request);
    }
  }

  #begin(request: IncomingMessage, response: ServerResponse, exempt: boolean): void {
    const arrivedAt = this.#runtime.now();
    const left = exempt ? Infinity : timeLeftOf(request.headers, this.#settings);
    if (left === "invalid") {
      this.#counted.refused++;
      reply(response, 400);
      return;
    }
    const host = exempt ? this.#uncounted : this.#counted;
    const fields = sized(this.#settings.trust(request) ? fieldsOf(request) : PLAIN_CALL, request);
    const exchange = new Exchange(host, request, response, fields, arrivedAt + left, arrivedAt);
    const policy = exempt ? this.#exempt : this.#guarded;
    const call = policy.start(exchange, fields, exchange.deadline, exchange);
    if (call.exit === null) exchange.follow(call);
  }

  #answer({ request, response }: Exchange, exit: Exit): void {
    if (exit.kind === "ok" || exit.kind === "cancelled") return;
    if (exit.kind === "rejected") reply(response, 503, this.#refusalHeaders(request, exit));
    else if (exit.ended === "clipped") {
      reply(response, 504);
      mute(response);
      if (!request.complete) this.#runtime.after(LINGER_MS, () => giveUpBody(request));
    } else {
      const { status, headers } = meaningOf(exit);
      reply(response, status, headers);
      mute(response);
      this.#settings.onError(exit.error, request);
    }
  }

  #refusalHeaders(request: IncomingMessage, refusal: Rejected): OutgoingHttpHeaders {
    const { min, max } = this.#settings.retryAfterMs;
    const waitMs = Math.max(min + this.#random.next() * (max - min), refusal.retryAfterMs ?? 0);
    const headers: OutgoingHttpHeaders = {
      "retry-after": String(Math.ceil(waitMs / 1000)),
      [NOT_EXECUTED]: "true",
    };
    if (refusal.by === "deadline" || isRepeat(request)) headers[OVERLOADED] = "true";
    return headers;
  }
}

/** Counts, and the handler that they are of. */
class Counts implements Host {
  readonly handler: Handler;
  served = 0;
  refused = 0;
  expired = 0;
  clientGone = 0;
  failed = 0;
  inFlight = 0;
  readonly #answer: (exchange: Exchange, exit: Exit) => void;

  constructor(handler: Handler, answer: (exchange: Exchange, exit: Exit) => void) {
    this.handler = handler;
    this.#answer = answer;
  }

  answer(exchange: Exchange, exit: Exit): void {
    if (exit.kind === "ok") this.served++;
    else if (exit.kind === "cancelled") this.clientGone++;
    else if (exit.kind === "rejected") this.refused++;
    else if (exit.ended === "clipped") this.expired++;
    else this.failed++;
    this.#answer(exchange, exit);
  }
}

/**
 * Ends the wait for the rest of a body. Node itself tells nobody who reads one that its client has gone, once the
 * answer was sent, and the place would be held for ever.
 */
function giveUpBody(request: IncomingMessage): void {
  if (!request.complete) request.destroy();
}

/** What a trusted client says about its call. */
function fieldsOf({ headers }: IncomingMessage): CallFields {
  return {
    ...PLAIN_CALL,
    criticality: parseCriticality(first(headers[CRITICALITY])) ?? PLAIN_CALL.criticality,
    tenant: parseTenant(first(headers[TENANT])) ?? PLAIN_CALL.tenant,
  };
}

/** A request that waits holds its body in buffers, here or in the kernel's: as much as it announces. */
function sized(fields: CallFields, { headers }: IncomingMessage): CallFields {
  const announced = headers["content-length"];
  if (announced === undefined) return fields;
  const bytes = Number(announced);
  return bytes > 0 && Number.isSafeInteger(bytes) ? { ...fields, bytes } : fields;
}

/** If even a repeat finds no place, the next one will not either. */
function isRepeat({ headers }: IncomingMessage): boolean {
  return Number(first(headers[ATTEMPT_COUNT])) > 1;
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "object" ? value[0] : value;
}

/**
 * What an error of the handler is to its client: 500. But a refusal or a "do not retry" from further down is handed
 * on as such, because only the hop directly above a failure may retry it; and a time-out is a 504.
 */
function meaningOf({ error }: Failed): { status: number; headers: OutgoingHttpHeaders } {
  const outcome = classify({ error });
  if (outcome.kind !== "failed") return { status: 500, headers: {} };
  // Asked second, since even this may throw for what cannot be read, which has no class.
  if (outcome.class === "transient" && error instanceof TimeoutError) return { status: 504, headers: {} };
  const exhausted = outcome.class === "throttling" || outcome.pushback === "never";
  return exhausted ? { status: 503, headers: { [OVERLOADED]: "true" } } : { status: 500, headers: {} };
}
