/** One attempt at a request, as undici's handler of it: its response is held at its head until its fate is known. */
import type { Dispatcher } from "undici";
import type { Attempt } from "../../core/attempt.ts";
import { rejected } from "../../core/call.ts";
import { FAILURE } from "../../core/classify.ts";
import { PlimsollError, RefusedError } from "../../core/errors.ts";
import { failureOf } from "../fetch/http-error.ts";
import type { Exchange } from "./exchange.ts";
import { plainHeaders } from "./headers.ts";

type Controller = Dispatcher.DispatchController;
type Handler = Dispatcher.DispatchHandler;

/** The beginning of a response. */
export type Head = readonly [
  status: number,
  headers: Record<string, string | string[]>,
  message: string | undefined,
];

/** What a server sends when it has begun on a request (102, RFC 2518 §10.1). */
const PROCESSING = 102;

/** More of a reply that nobody wants is not read. */
const DISCARD_BYTES = 131_072;

/** A reply that counts as a failure, while it is not known what becomes of it. Nobody else sees this. */
export class BadReply extends Error {
  constructor(status: number, meaning: object) {
    super(`${status}`);
    Object.defineProperty(this, FAILURE, { value: meaning });
  }
}

/** One attempt. */
export class Try implements Handler {
  controller: Controller | null = null;
  head: Head | null = null;
  readonly replied: Promise<void>;
  private readonly exchange: Exchange;
  private readonly attempt: Attempt;
  private readonly repeatable: boolean;
  private resolve!: () => void;
  private reject!: (error: unknown) => void;
  private release: (() => void) | null = null;
  private fate: "awaited" | "held" | "chosen" | "discarded" = "awaited";
  /** How a held response ended meanwhile. */
  private ended: (() => void) | null = null;
  private discarded = 0;

  constructor(exchange: Exchange, attempt: Attempt, repeatable: boolean) {
    this.exchange = exchange;
    this.attempt = attempt;
    this.repeatable = repeatable;
    this.replied = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller;
    this.attempt.onAbort((reason) => this.giveUp(reason));
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: Record<string, string | string[]>,
    message?: string,
  ): void {
    this.controller = controller;
    const head: Head = [status, headers, message];
    if (status === PROCESSING) this.attempt.started();
    if (status < 200) return this.exchange.inform(controller, head);
    this.head = head;
    if (status < 400) {
      this.release = this.attempt.hold();
      this.fate = "chosen";
      this.resolve();
      this.exchange.choose(this);
      return;
    }
    this.fate = "held";
    controller.pause();
    this.exchange.hold(this);
    const meaning = failureOf(status, plainHeaders(headers), this.attempt.number, Date.now());
    this.reject(new BadReply(status, this.repeatable ? meaning : { ...meaning, pushback: "never" }));
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.fate === "chosen") return this.exchange.data(chunk);
    this.discarded += chunk.length;
    if (this.discarded > DISCARD_BYTES) controller.abort(new Error("the reply is not wanted"));
  }

  onResponseEnd(_controller: Controller, trailers: Record<string, string | string[]>): void {
    this.finish(() => this.exchange.end(trailers));
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.fate === "awaited") this.reject(judged(error, this.repeatable));
    else this.finish(() => this.exchange.fail(error));
  }

  /** The guards try no more: the handler gets this response. */
  passOn(): void {
    this.fate = "chosen";
    try {
      this.exchange.choose(this);
      if (this.ended !== null) this.ended();
      else if (!this.exchange.paused) this.controller?.resume();
    } catch (error) {
      // The handler has thrown: as undici does, end the response, and tell it so.
      this.controller?.abort(error as Error);
      this.exchange.fail(error);
    }
  }

  /** The guards try again: it is read to its end, so that its connection can be used again. */
  discard(): void {
    this.fate = "discarded";
    // Once it has ended, whatever else is paused on its connection is not its business.
    if (this.ended === null) this.controller?.resume();
  }

  private finish(tell: () => void): void {
    this.release?.();
    if (this.fate === "chosen") tell();
    else this.ended = tell;
  }

  /** Its time is over, or nobody waits for it: while a bad response is held, that is no longer its business. */
  private giveUp(reason: unknown): void {
    if (this.fate === "held" || this.fate === "discarded") return;
    this.controller?.abort(reason instanceof Error ? reason : new Error("aborted", { cause: reason }));
  }
}

/** A body that can be sent once is not sent again: the second time it would be empty, or the second half. */
export function canRepeat(body: unknown): boolean {
  if (body == null || typeof body === "string") return true;
  return (
    body instanceof Uint8Array ||
    body instanceof ArrayBuffer ||
    body instanceof Blob ||
    body instanceof FormData
  );
}

/** What an error means beyond its own code: wrong arguments stay wrong, and a used-up body cannot be sent again. */
function judged(error: Error & { code?: string }, repeatable: boolean): Error {
  if (error instanceof PlimsollError) return error;
  if (error.code === "UND_ERR_INVALID_ARG") return refusedByUndici(error);
  if (repeatable) return error;
  return mark(error, { class: "transient", effect: "unknown", pushback: "never" });
}

/** undici refuses wrong arguments: nothing was sent. */
export function refusedByUndici(error: unknown): Error {
  return mark(error, { class: "permanent", effect: "none", ended: "unsent", pushback: "never" });
}

/** The error of a hedge whose body is being sent already: nothing was sent, and it is nobody's fault. */
export function neverTwice({ call }: Attempt): Error {
  const refusal = rejected("hedge", "the body can be sent once");
  const error = new RefusedError(call.dependency, call.operation, refusal);
  return mark(error, { class: "transient", effect: "none", ended: "clipped", pushback: "never" });
}

function mark(error: unknown, meaning: object): Error {
  return Object.defineProperty(Object(error), FAILURE, { value: meaning, configurable: true });
}
