// Case 043: a retry sent an empty or half-used body.
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { bodyOf, serve } from "../../../test/lib/http.ts";
import { dependency, fullJitter } from "../../index.node.ts";
import { fetch } from "./fetch.ts";
import { HttpError } from "./http-error.ts";
import { BodyUsedError } from "./once-body.ts";
import type { FetchInput } from "./request.ts";

const BYTES = Buffer.from("0123456789".repeat(2_000));

async function* parts(): AsyncGenerator<Buffer> {
  yield BYTES.subarray(0, 7);
  yield BYTES.subarray(7);
}

const webStream = (): NonNullable<RequestInit["body"]> =>
  Readable.toWeb(Readable.from(parts())) as NonNullable<RequestInit["body"]>;

/** PUTs to a server that answers 503 first, and tells what it got. */
async function put(make: (url: string) => [FetchInput, RequestInit["body"]?], each = false) {
  const bodies: Buffer[] = [];
  const { url } = await serve(async (request, response) => {
    bodies.push(await bodyOf(request));
    response.writeHead(bodies.length === 1 ? 503 : 200).end("ok");
  });
  const retry = { attempts: 3, backoff: fullJitter({ baseMs: 1, capMs: 1 }) };
  const save = dependency({ name: "files" }).operation("save", { idempotent: true, retry });
  const once = make(url);
  const outcome = await save.outcome((attempt) => {
    const [input, body] = each ? make(url) : once;
    const init = body === undefined ? {} : { body, method: "PUT" };
    return fetch(input, attempt, init).then((response) => response.text());
  });
  return {
    outcome,
    sizes: bodies.map((body) => body.length),
    same: bodies.every((body) => body.equals(BYTES)),
  };
}

describe("bytes are sent whole, each time", () => {
  it.each([
    ["a buffer", () => BYTES],
    ["a string", () => BYTES.toString()],
    ["a blob", () => new Blob([BYTES])],
    ["search parameters", () => new URLSearchParams(BYTES.toString())],
  ])("%s", async (_name, body) => {
    const { outcome, sizes } = await put((url) => [url, body()]);
    expect(outcome).toMatchObject({ kind: "ok", value: "ok" });
    expect(sizes).toHaveLength(2);
    expect(sizes[0]).toBeGreaterThanOrEqual(BYTES.length);
    expect(sizes[1]).toBe(sizes[0]);
  });
});

describe("a stream is sent once, and a second attempt is refused", () => {
  it.each([
    ["a web stream", (url: string) => [url, webStream()]],
    [
      "a stream of Node's",
      (url: string) => [url, Readable.from(parts()) as unknown as NonNullable<RequestInit["body"]>],
    ],
    ["an async iterator", (url: string) => [url, parts() as unknown as NonNullable<RequestInit["body"]>]],
    ["a Request", (url: string) => [new Request(url, { method: "PUT", body: BYTES })]],
  ] as [string, (url: string) => [FetchInput, NonNullable<RequestInit["body"]>?]][])(
    "%s",
    async (_name, make) => {
      const { outcome, sizes, same } = await put(make);
      expect([sizes, same]).toEqual([[BYTES.length], true]);
      // The second attempt was not sent; the first may have changed something.
      expect(outcome).toMatchObject({ kind: "failed", class: "permanent", effect: "unknown" });
      const { error } = outcome as { error: Error };
      expect(error).toBeInstanceOf(BodyUsedError);
      expect(error.message).toMatch(/can be sent once/);
      expect(error.cause).toBeInstanceOf(HttpError);
    },
  );

  it("unless the work makes a new one for each attempt", async () => {
    const { outcome, sizes, same } = await put((url) => [url, webStream()], true);
    expect(outcome).toMatchObject({ kind: "ok", value: "ok" });
    expect([sizes, same]).toEqual([[BYTES.length, BYTES.length], true]);
  });
});
