// Handlers and clients that do what they should not: nobody else's request, and no place, is lost by it.
import { connect } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bodyOf, serve, sleep, until } from "../../../test/lib/http.ts";
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

it("30 requests sent ahead leave no listeners and no warning, and are left together", async () => {
  const warned = vi.fn();
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const { port, listener } = await guarded({ bulkhead: { limit: 30 } }, async (_, _response, { signal }) => {
    await new Promise((done) => signal.addEventListener("abort", done));
  });
  const client = connect(port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(30));
  await until(() => listener.stats.inFlight === 30);
  client.destroy();
  await until(() => listener.stats.clientGone === 30 && listener.stats.inFlight === 0);
  await sleep(1);
  expect(warned).not.toHaveBeenCalled();
});

describe("a body that does not come to its end", () => {
  const HEAD = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab";

  async function begun() {
    const { port, listener } = await guarded({ maxTimeoutMs: 30 }, async (request, response) => {
      await bodyOf(request);
      response.end("ok");
    });
    const client = { socket: connect(port, "127.0.0.1"), said: "", closed: false };
    client.socket.on("data", (data) => {
      client.said += data;
    });
    client.socket.on("close", () => {
      client.closed = true;
    });
    onTestFinished(() => void client.socket.destroy());
    client.socket.write(HEAD);
    await until(() => client.said.includes("504"));
    return { client, listener };
  }

  it("holds no place for long once its time was over", async () => {
    const { client, listener } = await begun();
    expect(listener.bulkhead?.gate.held).toBe(1);
    await until(() => listener.bulkhead?.gate.held === 0);
    await until(() => client.closed);
    expect(listener.stats).toMatchObject({ expired: 1, inFlight: 0 });
  });

  it("nor when its client has left meanwhile", async () => {
    const { client, listener } = await begun();
    client.socket.destroy();
    await until(() => listener.bulkhead?.gate.held === 0);
  });

  it("may come late: the connection stays", async () => {
    const { client, listener } = await begun();
    client.socket.write("cd");
    await until(() => listener.bulkhead?.gate.held === 0);
    await sleep(1_100);
    expect(client.closed).toBe(false);
    client.socket.write(`${HEAD}cd`);
    await until(() => client.said.includes("200 OK"));
  });
});

describe("an answer that is whole", () => {
  const size = 8_000_000;

  it("is not cut off by an error after it", async () => {
    const { url, listener } = await guarded({}, async (_, response) => {
      response.end(Buffer.alloc(size));
      throw boom;
    });
    const response = await fetch(url);
    expect((await response.arrayBuffer()).byteLength).toBe(size);
    expect(listener.stats).toMatchObject({ failed: 1, inFlight: 0 });
  });

  it("is not cut off by the deadline when it was given in a callback", async () => {
    const { url, listener } = await guarded({ maxTimeoutMs: 60 }, (_, response) => {
      setTimeout(() => response.end(Buffer.alloc(size)), 5);
    });
    const response = await fetch(url);
    await sleep(120);
    expect((await response.arrayBuffer()).byteLength).toBe(size);
    expect(listener.stats).toMatchObject({ served: 1, expired: 0, inFlight: 0 });
  });
});

it("what a failed handler still has to say in a callback does not end the process", async () => {
  let late = false;
  const { url } = await guarded({}, async (_, response) => {
    setTimeout(() => {
      response.writeHead(200);
      response.write("more");
      response.end("late");
      late = true;
    }, 20);
    throw boom;
  });
  expect((await fetch(url)).status).toBe(500);
  await until(() => late);
  await sleep(10);
});
