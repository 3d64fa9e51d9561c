/**
 * One request through the guards: attempts on one side, undici's handler on the other.
 *
 * The handler must hear of one request only: that it starts, one response, its end. So the response of an attempt is
 * held at its head until it is known whether it counts. A good one is passed on at once, and its attempt lasts until
 * the body has ended. A bad one is kept paused while the guards decide: if they try again it is read to its end in the
 * background, so that its connection can be used again (or dropped, when it is long); if they do not, it is passed on
 * as it is, since a caller of undici expects a reply and not an error.
 */
import type { Dispatcher } from "undici";
import type { Attempt } from "../../core/attempt.ts";
import type { Outcome } from "../../core/call.ts";
import { RefusedError } from "../../core/errors.ts";
import { canRepeat, neverSent, neverTwice } from "../http-clients/meaning.ts";
import type { Methods } from "../http-clients/methods.ts";
import { IDEMPOTENCY_KEY } from "../wire/headers.ts";
import { type HeaderList, headersOf, lookUp } from "./headers.ts";
import { BadReply, type Head, Try } from "./try.ts";

type Controller = Dispatcher.DispatchController;
type Handler = Dispatcher.DispatchHandler;
type Dispatch = Dispatcher["dispatch"];

/** A request that is being made. It is the controller that the handler is given. */
export class Exchange implements Controller {
  aborted = false;
  reason: Error | null = null;
  paused = false;
  rawHeaders: Buffer[] | null = null;
  rawTrailers: Buffer[] | null = null;
  private readonly methods: Methods;
  private readonly dispatch: Dispatch;
  private readonly options: Dispatcher.DispatchOptions;
  private readonly handler: Handler;
  private readonly aborting = new AbortController();
  /** The attempt whose response the handler gets. */
  private chosen: Try | null = null;
  /** The last bad response, held at its head. */
  private held: Try | null = null;
  /** Whether the handler has heard how it ended. */
  private over = false;

  constructor(methods: Methods, dispatch: Dispatch, options: Dispatcher.DispatchOptions, handler: Handler) {
    this.methods = methods;
    this.dispatch = dispatch;
    this.options = options;
    this.handler = handler;
  }

  /** Makes the request. */
  async run(): Promise<void> {
    try {
      const list = headersOf(this.options.headers);
      this.handler.onRequestStart?.(this, {});
      this.conclude(await this.ask(list));
    } catch (error) {
      this.drop();
      this.fail(error);
    }
  }

  private ask(list: HeaderList): Promise<Outcome<void>> {
    if (this.aborted) return Promise.reject(this.reason);
    const idempotencyKey = lookUp(list, IDEMPOTENCY_KEY);
    return this.methods.of(this.options.method).outcome((attempt) => this.send(attempt, list), {
      signal: this.aborting.signal,
      ...(idempotencyKey !== undefined && idempotencyKey !== "" && { idempotencyKey }),
    });
  }

  pause(): void {
    this.paused = true;
    this.chosen?.controller?.pause();
  }

  resume(): void {
    this.paused = false;
    this.chosen?.controller?.resume();
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.aborting.abort(reason);
    this.chosen?.controller?.abort(reason);
  }

  /** What is passed on is this one's response. */
  choose(tried: Try): void {
    this.chosen = tried;
    if (this.paused) tried.controller?.pause();
    this.inform(tried.controller, tried.head as Head);
  }

  /** A head is passed on: the response's, or one that comes before it (1xx). */
  inform(controller: Controller | null, [status, headers, message]: Head): void {
    if (this.over) return;
    this.rawHeaders = (controller?.rawHeaders as Buffer[] | null) ?? null;
    this.handler.onResponseStart?.(this, status, headers, message);
  }

  /** This one's response is bad; it may be passed on, or not. */
  hold(tried: Try): void {
    this.drop();
    this.held = tried;
  }

  data(chunk: Buffer): void {
    if (!this.over) this.handler.onResponseData?.(this, chunk);
  }

  end(trailers: Record<string, string | string[]>): void {
    if (this.over) return;
    this.rawTrailers = (this.chosen?.controller?.rawTrailers as Buffer[] | null) ?? null;
    this.over = true;
    try {
      this.handler.onResponseEnd?.(this, trailers);
    } catch (error) {
      this.over = false; // it hears of its own fault, as an error
      throw error;
    }
  }

  /** Tells of the failure, once: who aborts hears it from the call and from undici. */
  fail(error: unknown): void {
    if (this.over) return;
    this.over = true;
    this.handler.onResponseError?.(this, error as Error);
  }

  private send(attempt: Attempt, list: HeaderList): Promise<void> {
    const repeatable = canRepeat(this.options.body);
    if (attempt.kind === "hedge" && !repeatable) throw neverTwice(attempt);
    this.drop();
    const headers = [...list, ...Object.entries(this.methods.headersOf(attempt)).flat()];
    const tried = new Try(this, attempt, repeatable);
    try {
      this.dispatch({ ...this.options, headers }, tried);
    } catch (error) {
      throw neverSent(error);
    }
    return tried.replied;
  }

  /** Whatever is held is not wanted any more: left paused, it would keep its connection for ever. */
  private drop(): void {
    const { held } = this;
    this.held = null;
    held?.discard();
  }

  private conclude(outcome: Outcome<void>): void {
    const { held } = this;
    if (outcome.kind === "failed" && outcome.error instanceof BadReply && held !== null) {
      this.held = null;
      return held.passOn();
    }
    this.drop();
    if (outcome.kind === "rejected") {
      this.fail(new RefusedError(this.methods.name, this.options.method, outcome));
    } else if (outcome.kind === "failed") this.fail(outcome.error);
  }
}
