/**
 * What a guarded server says itself: short problem documents (RFC 9457) without internals. A response whose head has
 * been sent gets no second one: its socket is destroyed, so that the client sees that the body is not whole.
 */
import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from "node:http";

const bodies: Map<number, Buffer> = new Map();

/** What the handler may have said about a body that will not come. */
const ABOUT_BODY = /^(?:content-(?!security)|transfer-encoding$|trailer$|etag$|last-modified$|expires$)/;

/** Answers with a status and nothing to learn from, or destroys a response that has begun; a whole one is let be. */
export function reply(response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void {
  if (response.writableEnded) return;
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) {
    if (ABOUT_BODY.test(name)) response.removeHeader(name);
  }
  const body = bodyOf(status);
  // The handler's own status message may be what it failed on.
  response.writeHead(status, STATUS_CODES[status], {
    "content-type": "application/problem+json",
    "content-length": body.byteLength,
    "cache-control": "no-store",
    ...headers,
  });
  response.end(body);
}

function bodyOf(status: number): Buffer {
  let body = bodies.get(status);
  if (body === undefined) {
    body = Buffer.from(JSON.stringify({ type: "about:blank", title: STATUS_CODES[status], status }));
    bodies.set(status, body);
  }
  return body;
}

/**
 * Makes a handler that goes on after its client was answered write into the void: in a callback, a second head would
 * be an uncaught exception, and so the end of the process.
 */
export function mute(response: ServerResponse): void {
  response.on("error", () => {});
  const same = (): ServerResponse => response;
  const nothing = (): void => {};
  const late = {
    writeHead: same,
    setHeader: same,
    setHeaders: same,
    appendHeader: same,
    removeHeader: nothing,
    flushHeaders: nothing,
    write: (...rest: unknown[]) => {
      callBack(rest);
      return true;
    },
    end: (...rest: unknown[]) => {
      callBack(rest);
      return response;
    },
  };
  Object.assign(response, late);
}

function callBack(rest: readonly unknown[]): void {
  const done = rest.at(-1);
  if (typeof done === "function") process.nextTick(done);
}
