import { describe, expect, it, vi } from "vitest";
import { serve, until } from "../../../test/lib/http.ts";
import { dependency, TimeoutError } from "../../index.node.ts";
import { createFetch, fetch, type GuardedFetch } from "./fetch.ts";

const TEXT = '{"badge":"new"}';

/** A guarded GET that hands the raw reply out, and whether its place is still held. */
async function held(options: {
  readonly body?: string;
  readonly status?: number;
  readonly method?: string;
  readonly attemptTimeoutMs?: number;
  readonly unfinished?: boolean;
  readonly work?: GuardedFetch;
}) {
  const {
    body = TEXT,
    status = 200,
    method = "GET",
    attemptTimeoutMs,
    unfinished = false,
    work = fetch,
  } = options;
  const server = await serve((_, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    if (unfinished) response.write(body);
    else response.end(status === 204 || status === 304 ? undefined : body);
  });
  const stock = dependency({ name: "stock", bulkhead: { limit: 1 } });
  const view = stock.operation("view", {
    classify: () => undefined,
    ...(attemptTimeoutMs === undefined ? {} : { attemptTimeoutMs }),
  });
  const response = await view((attempt) => work(server.url, attempt, { method }));
  return { response, view, server, places: () => stock.bulkhead!.gate.held };
}

describe("a body keeps its attempt alive until it ends", () => {
  it.each([
    ["text()", (response: Response) => response.text(), TEXT],
    ["json()", (response: Response) => response.json(), { badge: "new" }],
    [
      "arrayBuffer()",
      async (response: Response) => Buffer.from(await response.arrayBuffer()).toString(),
      TEXT,
    ],
    ["blob()", async (response: Response) => (await response.blob()).text(), TEXT],
    ["async iteration", (response: Response) => iterate(response.body!), TEXT],
    ["getReader()", (response: Response) => drain(response.body!.getReader()), TEXT],
    ["a reader with a buffer of its own", (response: Response) => drainByob(response.body!), TEXT],
    [
      "pipeThrough()",
      (response: Response) =>
        new Response(
          response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new TextEncoderStream()),
        ).text(),
      TEXT,
    ],
    ["text() after a look at body", (response: Response) => lookThenRead(response), TEXT],
    [
      "another Response around it",
      (response: Response) => new Response(response.body, response).json(),
      { badge: "new" },
    ],
    ["body.cancel()", (response: Response) => response.body!.cancel(), undefined],
    ["reader.cancel()", (response: Response) => response.body!.getReader().cancel(), undefined],
  ])("%s", async (_name, use: (response: Response) => Promise<unknown>, result) => {
    const { response, places } = await held({});
    expect(places()).toBe(1);
    expect(await use(response)).toEqual(result);
    await until(() => places() === 0);
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow(TypeError);
  });

  it("clone(): until both have been read", async () => {
    const { response, places, server } = await held({});
    const copy = response.clone();
    expect(copy.url).toBe(server.url);
    expect(await copy.json()).toEqual({ badge: "new" });
    expect(await response.text()).toBe(TEXT);
    await until(() => places() === 0);
  });

  it("a body that cannot be parsed has ended all the same", async () => {
    const { response, places } = await held({ body: "<html>" });
    await expect(response.json()).rejects.toThrow(SyntaxError);
    expect(places()).toBe(0);
  });

  it("a body that breaks off has ended", async () => {
    const { response, places, server } = await held({ unfinished: true });
    const text = response.text();
    server.server.closeAllConnections();
    await expect(text).rejects.toThrow("terminated");
    expect(places()).toBe(0);
  });

  it("a stream that breaks off has ended", async () => {
    const { response, places, server } = await held({ unfinished: true });
    const text = iterate(response.body!);
    server.server.closeAllConnections();
    await expect(text).rejects.toThrow("terminated");
    expect(places()).toBe(0);
  });
});

describe("no body, nothing to wait for", () => {
  it.each([
    ["HEAD", { method: "HEAD" }],
    ["204", { status: 204 }],
    ["304", { status: 304 }],
  ])("%s", async (_name, options) => {
    const { response, places } = await held(options);
    expect(response.body).toBeNull();
    expect(places()).toBe(0);
    expect(await response.text()).toBe("");
  });

  it("an empty one ends when it is looked at", async () => {
    const { response, places } = await held({ body: "" });
    expect(await response.text()).toBe("");
    expect(places()).toBe(0);
  });
});

describe("the attempt's time runs on", () => {
  const slow = { unfinished: true, attemptTimeoutMs: 500 } as const;

  it("over a body that nobody touches, whose socket is then free", async () => {
    const { response, places, server, view } = await held({ ...slow, body: "x".repeat(300_000) });
    expect([places(), server.sockets.open]).toEqual([1, 1]);
    await until(() => places() === 0);
    await until(() => server.sockets.closed >= 1);
    expect(view.abandoned).toBe(0);
    await expect(response.text()).rejects.toThrow(TimeoutError);
  });

  it.each([
    ["text()", (response: Response) => response.text()],
    ["a stream", (response: Response) => iterate(response.body!)],
    ["a clone", (response: Response) => response.clone().text()],
  ])("over a body that is being read: %s", async (_name, use) => {
    const { response, places, server } = await held(slow);
    await expect(use(response)).rejects.toThrow(TimeoutError);
    await until(() => places() === 0);
    await until(() => server.sockets.closed >= 1);
  });

  it("and a stream that ignores the signal is not taken for a whole body", async () => {
    const endless: GuardedFetch = createFetch({
      fetch: async () =>
        new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(3)) })),
    });
    const { response, places } = await held({ attemptTimeoutMs: 50, work: endless });
    await expect(iterate(response.body!)).rejects.toThrow(TimeoutError);
    await until(() => places() === 0);
  });
});

it("the reply is the one that fetch made", async () => {
  const { response, server } = await held({});
  expect(response).toBeInstanceOf(Response);
  expect(response).toMatchObject({
    url: server.url,
    status: 200,
    ok: true,
    redirected: false,
    bodyUsed: false,
  });
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(Object.keys(response)).toEqual([]);
  await response.text();
});

it("a reply that comes after the attempt was given up is thrown away", async () => {
  const cancel = vi.fn();
  let reply: (response: Response) => void = () => {};
  const pending = new Promise<Response>((resolve) => {
    reply = resolve;
  });
  const late = createFetch({ fetch: () => pending });
  const stock = dependency({ name: "stock", bulkhead: { limit: 1 } });
  const view = stock.operation("view", { attemptTimeoutMs: 20 });
  await expect(view((attempt) => late("http://stock/", attempt).then(read))).rejects.toThrow(TimeoutError);
  expect([view.abandoned, stock.bulkhead!.gate.held]).toEqual([1, 1]);
  reply(new Response(new ReadableStream({ cancel })));
  await until(() => stock.bulkhead!.gate.held === 0);
  expect(view.abandoned).toBe(0);
  expect(cancel).toHaveBeenCalledOnce();
});

const read = (response: Response): Promise<string> => response.text();

function lookThenRead(response: Response): Promise<string> {
  expect(response.body).toBeInstanceOf(ReadableStream);
  return response.text();
}

async function iterate(body: ReadableStream<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
  return Buffer.concat(parts).toString();
}

async function drainByob(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader({ mode: "byob" });
  const parts: Buffer[] = [];
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(4));
    if (done) return Buffer.concat(parts).toString();
    parts.push(Buffer.from(value));
  }
}
