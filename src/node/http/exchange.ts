/**
 * One request in a guarded server: the work of a core call, the answer to it, and what the handler is told.
 *
 * Its client has gone when the *response* closes before it was finished. The request's own `close` says nothing: it
 * comes as soon as the body has been read (nodejs/node#40775). The work has ended when the handler's promise has
 * settled and the response is no longer being written; that, not the answer, gives the place back.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Attempt } from "../../core/attempt.ts";
import type { CallFields, Criticality, Exit } from "../../core/call.ts";
import { PlimsollError } from "../../core/errors.ts";
import type { Answer, CallProcess } from "../../core/progress.ts";
import type { Ambient } from "../../facade/host.ts";
import { isThenable } from "../../facade/perform.ts";
import { inRequest } from "../context.ts";

/** What a handler is told about its request. Guarded calls that it makes inherit all of this by themselves. */
export interface RequestContext {
  /** Fires when nobody waits for the answer any more: the client has left, or the time is over. */
  readonly signal: AbortSignal;
  /** Absolute end, on the clock of `performance.now()`; `Infinity` for none. */
  readonly deadline: number;
  /** Ms until then, 0 at least. */
  readonly timeLeftMs: number;
  /** When the request's head had been read, on the same clock. */
  readonly arrivedAt: number;
  /** As a trusted client says; else `critical`. */
  readonly criticality: Criticality;
  /** As a trusted client says; else empty. */
  readonly tenant: string;
}

/** Your code. Its promise settles when it holds nothing of the request any more. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
) => unknown;

/** The client closed its connection before it was answered. */
export class ClientGoneError extends PlimsollError {
  override readonly name = "AbortError";
  readonly code = "PLIMSOLL_CANCELLED";

  constructor() {
    super("the client has gone");
  }
}

/** By connection: who of those that were sent ahead wants to hear of its end. */
const ahead: WeakMap<Socket, Set<() => void>> = new WeakMap();

/** However many requests a client sends ahead, its connection has one listener of ours, and Node nothing to warn of. */
function aheadOn(socket: Socket): Set<() => void> {
  let waiting = ahead.get(socket);
  if (waiting === undefined) {
    const all: Set<() => void> = new Set();
    waiting = all;
    ahead.set(socket, all);
    socket.once("close", () => {
      for (const closed of all) closed();
    });
  }
  return waiting;
}

/** What an exchange needs of its server. */
export interface Host {
  readonly handler: Handler;
  /** How many handlers have started and not ended. */
  inFlight: number;
  /** Answers for an exit that was not the handler's own answer, and counts every one. */
  answer(exchange: Exchange, exit: Exit): void;
}

/** A request from its arrival to the end of the work on it. */
export class Exchange implements Answer, Ambient, RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly fields: CallFields;
  readonly deadline: number;
  readonly arrivedAt: number;
  readonly #host: Host;
  #call: CallProcess | null = null;
  #attempt: Attempt | null = null;
  /** Whether the handler's promise has settled while the response was still being written. */
  #returned = false;
  /** Whether nothing can be written any more. */
  #over = false;

  constructor(
    host: Host,
    request: IncomingMessage,
    response: ServerResponse,
    fields: CallFields,
    deadline: number,
    arrivedAt: number,
  ) {
    this.#host = host;
    this.request = request;
    this.response = response;
    this.fields = fields;
    this.deadline = deadline;
    this.arrivedAt = arrivedAt;
  }

  get signal(): AbortSignal {
    return (this.#attempt as Attempt).signal;
  }

  get timeLeftMs(): number {
    return (this.#attempt as Attempt).timeLeftMs;
  }

  get criticality(): Criticality {
    return this.fields.criticality;
  }

  get tenant(): string {
    return this.fields.tenant;
  }

  /** Watches the client from here on, for as long as the call is not answered. */
  follow(call: CallProcess): void {
    this.#call = call;
    const { response, request } = this;
    const closed = (): void => this.#closed();
    response.on("close", closed);
    response.on("prefinish", () => this.#answeredWhole());
    if (response.socket !== null) return;
    // Sent ahead of the answer to an earlier request: the response has no connection yet whose end it would notice.
    const waiting = aheadOn(request.socket).add(closed);
    response.on("close", () => void waiting.delete(closed));
  }

  /** Runs the handler as the work of `attempt`. */
  start(attempt: Attempt): void {
    this.#attempt = attempt;
    this.#host.inFlight++;
    let result: unknown;
    let later: boolean;
    try {
      result = inRequest(this, () => this.#host.handler(this.request, this.response, this));
      later = isThenable(result);
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (!later) this.#settled();
    else {
      Promise.resolve(result).then(
        () => this.#settled(),
        (error) => this.#failed(error),
      );
    }
  }

  answered(exit: Exit): void {
    this.#host.answer(this, exit);
  }

  #settled(): void {
    if (this.response.writableEnded || this.#over) this.#ended();
    else this.#returned = true;
  }

  /** All of the answer has been said, however slowly it is read: a handler that had returned has ended. */
  #answeredWhole(): void {
    if (this.#returned) this.#ended();
  }

  #closed(): void {
    this.#over = true;
    if (!this.response.writableFinished && this.#call?.exit === null)
      this.#call.cancel(new ClientGoneError());
    if (this.#returned) this.#ended();
  }

  #ended(): void {
    this.#returned = false;
    this.#host.inFlight--;
    (this.#attempt as Attempt).succeed(undefined);
  }

  #failed(error: unknown): void {
    this.#host.inFlight--;
    (this.#attempt as Attempt).fail(error);
  }
}
