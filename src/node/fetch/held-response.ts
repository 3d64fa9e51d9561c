/**
 * Ties an attempt to the body of its reply: until the body has been read to its end, has failed or was cancelled, the
 * socket behind it is in use, so the attempt has not ended, keeps its places, and its time runs on.
 *
 * The reply stays the very `Response` that fetch made. Only its prototype is replaced by one that sees a body being
 * used: `text()`, `json()` and their like run natively with an ending attached; whoever touches `body` or `clone()`
 * gets the stream through one that sees its end. That costs a few µs where another `Response` around every body
 * costs 30 (measured on Node 20 with `node bench/http.bench.ts`).
 */
interface Hold {
  /** Fires when nobody will read the body any more. */
  readonly signal: AbortSignal;
  readonly kind: Kind;
  /** Tells the attempt that its socket is free; idempotent. */
  readonly release: () => void;
  /** Whether the body is being read natively. */
  reading: boolean;
  /** The same reply with a body that sees its own end, once somebody wants the stream. */
  watched: Response | null;
  /** The request: what a `Request` that nobody holds was told to follow, it does not hear. */
  readonly request: Request | null;
  /** Where a watched body is read from. */
  reader: ReadableStreamDefaultReader<Uint8Array> | null;
}

type Body = ReadableStream<Uint8Array>;

/** A class of replies. There are several: the platform's, and that of every undici that was installed beside it. */
interface Kind {
  readonly native: Response;
  readonly body: (this: Response) => Body | null;
  readonly used: (this: Response) => boolean;
  /** What takes its prototype's place. */
  readonly held: object;
  /** Its replies. */
  readonly holds: WeakMap<Response, Hold>;
}

type Reader = "arrayBuffer" | "blob" | "formData" | "json" | "text";

const READERS = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as readonly Reader[];

const kinds: WeakMap<object, Kind> = new WeakMap();

/** The kind of a reply; null for what only looks like one, as a stub may, and has no stream to be watched. */
function kindOf(response: Response): Kind | null {
  const native = Object.getPrototypeOf(response) as Response;
  const known = kinds.get(native);
  if (known !== undefined) return known;
  const body = getterOf(native, "body") as Kind["body"] | undefined;
  const used = getterOf(native, "bodyUsed") as Kind["used"] | undefined;
  if (body === undefined || used === undefined) return null;
  const kind: Kind = { native, body, used, held: Object.create(native) as object, holds: new WeakMap() };
  Object.defineProperties(kind.held, propertiesOf(kind));
  kinds.set(native, kind);
  return kind;
}

function getterOf(prototype: object | null, name: string): (() => unknown) | undefined {
  if (prototype === null) return undefined;
  const own = Object.getOwnPropertyDescriptor(prototype, name);
  return own === undefined ? getterOf(Object.getPrototypeOf(prototype), name) : own.get;
}

function propertiesOf(kind: Kind): PropertyDescriptorMap {
  const properties: PropertyDescriptorMap = {
    body: { get: bodyOf, configurable: true, enumerable: true },
    bodyUsed: { get: bodyUsed, configurable: true, enumerable: true },
    clone: { value: clone, configurable: true, writable: true },
  };
  for (const name of READERS.filter((each) => each in kind.native)) {
    const value = function (this: Response): Promise<unknown> {
      return readWhole(this, kind, name);
    };
    properties[name] = { value, configurable: true, writable: true };
  }
  function bodyOf(this: Response): Body | null {
    const hold = kind.holds.get(this) as Hold;
    return hold.reading ? kind.body.call(this) : watchedOf(this, hold).body;
  }
  function bodyUsed(this: Response): boolean {
    const watched = kind.holds.get(this)?.watched ?? null;
    return watched === null ? kind.used.call(this) : watched.bodyUsed;
  }
  function clone(this: Response): Response {
    const hold = kind.holds.get(this) as Hold;
    if (hold.reading) return kind.native.clone.call(this); // which throws
    const copy = watchedOf(this, hold).clone();
    return Object.defineProperties(copy, {
      url: { value: this.url },
      redirected: { value: this.redirected },
      type: { value: this.type },
    });
  }
  return properties;
}

/**
 * Calls `release` (from `attempt.hold()`, say) when the reply's body has ended, as it does when `signal` fires: the one
 * that the request was sent with. A `request` whose own signal is a part of that lives as long as its reply.
 */
export function holdUntilRead(
  response: Response,
  signal: AbortSignal,
  release: () => void,
  request: Request | null = null,
): Response {
  const kind = kindOf(response);
  if (kind === null || typeof response.body?.getReader !== "function") {
    release();
    return response;
  }
  const hold: Hold = {
    signal,
    kind,
    release: () => {
      signal.removeEventListener("abort", givenUp);
      release();
    },
    reading: false,
    watched: null,
    request,
    reader: null,
  };
  const givenUp = (): void => giveUp(response, hold, signal.reason);
  signal.addEventListener("abort", givenUp);
  kind.holds.set(response, hold);
  return Object.setPrototypeOf(response, kind.held) as Response;
}

/** Nobody will read the body any more. One that is being read natively fails by the same signal, and ends there. */
function giveUp(response: Response, hold: Hold, reason: unknown): void {
  if (hold.reading) return;
  const source = hold.reader ?? (hold.kind.body.call(response) as Body);
  source.cancel(reason).then(hold.release, hold.release);
}

function readWhole(response: Response, { native, holds }: Kind, name: Reader): Promise<unknown> {
  const hold = holds.get(response) as Hold;
  const read = native[name] as (this: Response) => Promise<unknown>;
  if (hold.watched !== null) return hold.watched[name]();
  if (hold.reading) return read.call(response); // which refuses: a body is read once
  const { signal } = hold;
  if (signal.aborted) return Promise.reject(signal.reason);
  hold.reading = true;
  return read.call(response).finally(hold.release);
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
  const { signal } = hold;
  return new ReadableStream(
    {
      type: "bytes",
      async pull(controller) {
        try {
          hold.reader ??= (hold.kind.body.call(response) as Body).getReader();
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
          await (hold.reader ?? (hold.kind.body.call(response) as Body)).cancel(reason);
        } finally {
          hold.release();
        }
      },
    },
    { highWaterMark: 0 },
  );
}
