/**
 * Ties an attempt to the body of its reply: until the body has been read to its end, has failed or was cancelled, the
 * socket behind it is in use, so the attempt has not ended, keeps its places, and its time runs on.
 *
 * The reply stays the very `Response` that fetch made. Only its prototype is replaced by one that sees a body being
 * used: `text()`, `json()` and their like run natively with an ending attached; whoever touches `body` or `clone()`
 * gets the stream through one that sees its end. That costs a few µs where another `Response` around every body
 * costs 30 (measured on Node 20 with `node bench/http.bench.ts`).
 */
import type { Attempt } from "../../core/attempt.ts";

interface Hold {
  readonly attempt: Attempt;
  /** Tells the attempt that its socket is free; idempotent. */
  readonly release: () => void;
  /** Whether the body is being read natively. */
  reading: boolean;
  /** The same reply with a body that sees its own end, once somebody wants the stream. */
  watched: Response | null;
  /** Where a watched body is read from. */
  reader: ReadableStreamDefaultReader<Uint8Array> | null;
}

type Body = ReadableStream<Uint8Array>;

const holds: WeakMap<Response, Hold> = new WeakMap();

const native = Response.prototype;
const nativeBody = Object.getOwnPropertyDescriptor(native, "body")?.get as (this: Response) => Body;
const nativeUsed = Object.getOwnPropertyDescriptor(native, "bodyUsed")?.get as (this: Response) => boolean;

const READERS = (["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const).filter(
  (name) => name in native,
) as readonly ("arrayBuffer" | "blob" | "formData" | "json" | "text")[];

const held: object = Object.create(native, {
  body: { get: bodyOf, configurable: true, enumerable: true },
  bodyUsed: { get: bodyUsed, configurable: true, enumerable: true },
  clone: { value: clone, configurable: true, writable: true },
});
for (const name of READERS) {
  Object.defineProperty(held, name, {
    value(this: Response): Promise<unknown> {
      return readWhole(this, name);
    },
    configurable: true,
    writable: true,
  });
}

/** Keeps the attempt alive (by `release`, from `attempt.hold()`) until the reply's body has ended. */
export function holdUntilRead(response: Response, attempt: Attempt, release: () => void): Response {
  if (response.body === null) {
    release();
    return response;
  }
  const { signal } = attempt;
  const hold: Hold = {
    attempt,
    release: () => {
      signal.removeEventListener("abort", givenUp);
      release();
    },
    reading: false,
    watched: null,
    reader: null,
  };
  const givenUp = (): void => giveUp(response, hold, signal.reason);
  signal.addEventListener("abort", givenUp);
  holds.set(response, hold);
  return Object.setPrototypeOf(response, held) as Response;
}

/** Nobody will read the body any more. One that is being read natively fails by the same signal, and ends there. */
function giveUp(response: Response, hold: Hold, reason: unknown): void {
  if (hold.reading) return;
  const source = hold.reader ?? nativeBody.call(response);
  source.cancel(reason).then(hold.release, hold.release);
}

function readWhole(response: Response, name: (typeof READERS)[number]): Promise<unknown> {
  const hold = holds.get(response) as Hold;
  const read = native[name] as (this: Response) => Promise<unknown>;
  if (hold.watched !== null) return read.call(hold.watched);
  if (hold.reading) return read.call(response); // which refuses: a body is read once
  const { signal } = hold.attempt;
  if (signal.aborted) return Promise.reject(signal.reason);
  hold.reading = true;
  return read.call(response).finally(hold.release);
}

function bodyOf(this: Response): Body | null {
  const hold = holds.get(this) as Hold;
  return hold.reading ? nativeBody.call(this) : watchedOf(this, hold).body;
}

function bodyUsed(this: Response): boolean {
  const watched = holds.get(this)?.watched;
  return nativeUsed.call(watched ?? this);
}

function clone(this: Response): Response {
  const hold = holds.get(this) as Hold;
  if (hold.reading) return native.clone.call(this); // which throws
  const copy = watchedOf(this, hold).clone();
  return Object.defineProperties(copy, {
    url: { value: this.url },
    redirected: { value: this.redirected },
    type: { value: this.type },
  });
}

function watchedOf(response: Response, hold: Hold): Response {
  hold.watched ??= new Response(watch(response, hold), response);
  return hold.watched;
}

/** A reader with a buffer of its own waits for it to be given back. (Node's types say that there is never one.) */
function endPending(controller: { readonly byobRequest?: unknown }): void {
  (controller.byobRequest as { respond(bytes: number): void } | null | undefined)?.respond(0);
}

/** The body, through a stream that reads no further than it is read, and sees how it ends. */
function watch(response: Response, hold: Hold): Body {
  const { signal } = hold.attempt;
  return new ReadableStream(
    {
      type: "bytes",
      async pull(controller) {
        try {
          hold.reader ??= nativeBody.call(response).getReader();
          const { done, value } = await hold.reader.read();
          if (signal.aborted) throw signal.reason;
          if (!done) return controller.enqueue(value);
          controller.close();
          endPending(controller);
        } catch (error) {
          hold.release();
          throw error;
        }
        hold.release();
      },
      async cancel(reason: unknown) {
        try {
          await (hold.reader ?? nativeBody.call(response)).cancel(reason);
        } finally {
          hold.release();
        }
      },
    },
    { highWaterMark: 0 },
  );
}
