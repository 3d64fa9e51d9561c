// Handlers and clients that do what they should not: nobody else's request, and no place, is lost by it.
import { expect, it } from "vitest";
import { serve, until } from "../../../test/lib/http.ts";
import { guardedHandler, type Handler, type HandlerOptions } from "./index.ts";

const boom = new Error("boom");
/** A thenable on purpose: `[THEN]() …` is one. */
const THEN = "then";

/** A guarded server with one place, which reports nothing. */
async function guarded(options: HandlerOptions, handler: Handler) {
  const listener = guardedHandler({ bulkhead: { limit: 1 }, onError: () => {}, ...options }, handler);
  return { ...(await serve(listener)), listener };
}

it.each([
  [
    "calls back twice",
    {
      [THEN](resolve: () => void) {
        resolve();
        resolve();
      },
    },
  ],
  [
    "throws",
    {
      [THEN]() {
        throw boom;
      },
    },
  ],
  [
    "cannot be asked",
    {
      get [THEN]() {
        throw boom;
      },
    },
  ],
])("a handler's thenable that %s is counted once", async (_name, thenable) => {
  const { url, listener } = await guarded({}, (_, response) => {
    response.end("ok");
    return thenable;
  });
  for (let round = 0; round < 2; round++) {
    expect(await (await fetch(url)).text()).toBe("ok");
    await until(() => listener.bulkhead?.gate.held === 0);
    expect(listener.stats.inFlight).toBe(0);
  }
});

const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

it.each([
  [
    "a status message that HTTP cannot say",
    (_, response) => {
      response.statusMessage = "не найдено";
      response.end("ok");
    },
  ],
  [
    "an error after a status message",
    (_, response) => {
      response.statusMessage = "Created";
      throw boom;
    },
  ],
  [
    "an error that cannot be read",
    () => {
      throw revoked;
    },
  ],
] as [string, Handler][])("%s is a plain 500", async (_name, handler) => {
  const { url, listener } = await guarded({}, handler);
  const response = await fetch(url);
  expect([response.status, response.statusText]).toEqual([500, "Internal Server Error"]);
  expect(listener.stats).toMatchObject({ failed: 1, inFlight: 0 });
});
