/**
 * Request bodies that can be sent once: streams and async iterators. A second attempt with the same one would send
 * nothing, or the second half; it is refused instead.
 */
import { FAILURE } from "../../core/classify.ts";
import type { FetchInit, FetchInput } from "./request.ts";

/** A body that was made to be read once has been sent already. Nothing was sent this time. */
export class BodyUsedError extends Error {
  override readonly name = "BodyUsedError";

  /** `cause` is what became of the request that did send it, if it failed. */
  constructor(cause: unknown) {
    super(
      "the request's body is a stream, which can be sent once: give bytes or a string, or make the stream inside the work",
      { cause },
    );
    Object.defineProperty(this, FAILURE, { value: { class: "permanent", effect: "none" } });
  }
}

/** What became of each body that has been sent. */
const sent: WeakMap<object, { error: unknown }> = new WeakMap();

/** Marks the request's body as sent, if it can be sent only once. Throws if it has been. */
export function sendOnce(input: FetchInput, init: FetchInit): { error: unknown } | null {
  const body = onceOnly(input, init);
  if (body === null) return null;
  const earlier = sent.get(body);
  if (earlier !== undefined) throw new BodyUsedError(earlier.error);
  const fate = { error: undefined };
  sent.set(body, fate);
  return fate;
}

function onceOnly(input: FetchInput, { body }: FetchInit): object | null {
  if (body == null) return input instanceof Request && input.body !== null ? input : null;
  const once = typeof body === "object" && (body instanceof ReadableStream || Symbol.asyncIterator in body);
  return once ? body : null;
}
