// A `fetch` of one's own gives replies of a class of its own: undici's, when it was installed beside Node's.
import { expect, it } from "vitest";
import { serve, until } from "../../../test/lib/http.ts";
import { dependency } from "../../index.node.ts";
import { createFetch, type FetchOptions, fetch as guardedFetch } from "./index.ts";

/** As undici's: its getters and methods refuse any object but their own. */
class Foreign {
  readonly #own: Response;

  constructor(own: Response) {
    this.#own = own;
  }
  get status() {
    return this.#own.status;
  }
  get statusText() {
    return this.#own.statusText;
  }
  get headers() {
    return this.#own.headers;
  }
  get url() {
    return this.#own.url;
  }
  get redirected() {
    return this.#own.redirected;
  }
  get type() {
    return this.#own.type;
  }
  get body() {
    return this.#own.body;
  }
  get bodyUsed() {
    return this.#own.bodyUsed;
  }
  text() {
    return this.#own.text();
  }
  clone() {
    return new Foreign(this.#own.clone());
  }
}

async function held(path: string, send: NonNullable<FetchOptions["fetch"]>) {
  const { url } = await serve((request, response) => {
    response.write("part");
    if (request.url === "/whole") response.end();
  });
  const stock = dependency({ name: "stock", bulkhead: { limit: 1 } });
  const view = stock.operation("view", { classify: () => undefined, attemptTimeoutMs: 500 });
  const work = createFetch({ fetch: send });
  const response = await view((attempt) => work(`${url}${path}`, attempt));
  return { response, places: () => stock.bulkhead?.gate.held };
}

const foreign = async (...input: Parameters<typeof fetch>): Promise<Response> =>
  new Foreign(await fetch(...input)) as unknown as Response;

it.each([
  ["text()", (response: Response) => response.text()],
  ["its stream", (response: Response) => new Response(response.body).text()],
  [
    "a copy",
    (response: Response) => Promise.all([response.clone().text(), response.text()]).then(([copy]) => copy),
  ],
])("a foreign reply is read by %s, and its attempt lasts until then", async (_name, read) => {
  const { response, places } = await held("whole", foreign);
  expect(response).toBeInstanceOf(Foreign);
  expect(response.bodyUsed).toBe(false);
  expect(places()).toBe(1);
  expect(await read(response)).toBe("part");
  await until(() => places() === 0);
  expect(response.bodyUsed).toBe(true);
});

it("a foreign reply that nobody reads is given up when its time is over", async () => {
  const { places } = await held("unfinished", foreign);
  expect(places()).toBe(1);
  await until(() => places() === 0);
});

it("a stub without a stream holds nothing", async () => {
  const { response, places } = await held(
    "whole",
    async () => ({ status: 200, text: async () => "stub" }) as Response,
  );
  expect(places()).toBe(0);
  expect(await response.text()).toBe("stub");
});

it("a guarded fetch within a guarded fetch holds the places of both", async () => {
  const inner = dependency({ name: "inner", bulkhead: { limit: 1 } });
  const send = inner.operation("send", { classify: () => undefined });
  const { response, places } = await held("whole", (input, init) =>
    send((attempt) => guardedFetch(input, attempt, { headers: {}, method: init?.method ?? "GET" })),
  );
  expect([places(), inner.bulkhead?.gate.held]).toEqual([1, 1]);
  expect(await response.text()).toBe("part");
  await until(() => places() === 0 && inner.bulkhead?.gate.held === 0);
});
