import { describe, expect, it } from "vitest";
import { classify } from "./classify.ts";

const connect = (code: string): object => Object.assign(new Error(code), { code, syscall: "connect" });
const coded = (code: string): Error => Object.assign(new Error(code), { code });
/** As fetch reports it. */
const fetched = (cause: unknown): Error => new TypeError("fetch failed", { cause });

const unsent = { kind: "failed", class: "transient", effect: "none", ended: "unsent", pushback: undefined };
const broken = { kind: "failed", class: "transient", effect: "unknown", ended: undefined };
const untrusted = {
  kind: "failed",
  class: "permanent",
  effect: "none",
  ended: "unsent",
  pushback: "never",
};

describe("an error of the network", () => {
  it.each([
    ["no listener", coded("ECONNREFUSED"), unsent],
    ["no such name", coded("ENOTFOUND"), unsent],
    ["undici's connect timeout", coded("UND_ERR_CONNECT_TIMEOUT"), unsent],
    ["a connect that timed out", connect("ETIMEDOUT"), unsent],
    ["a connect that was reset", connect("ECONNRESET"), unsent],
    [
      "every address failed",
      Object.assign(new AggregateError([connect("ETIMEDOUT"), connect("ENETUNREACH")]), {
        code: "ETIMEDOUT",
      }),
      unsent,
    ],
    ["a read that timed out", coded("ETIMEDOUT"), broken],
    ["a reset of a socket in use", coded("ECONNRESET"), broken],
    ["undici's word for it", coded("UND_ERR_SOCKET"), broken],
    ["no HTTP at all", coded("HPE_INVALID_CONSTANT"), broken],
    ["no HTTP at all, without a code", Object.assign(new Error("?"), { name: "HTTPParserError" }), broken],
    ["less than announced", coded("UND_ERR_RES_CONTENT_LENGTH_MISMATCH"), broken],
    ["an expired certificate", coded("CERT_HAS_EXPIRED"), untrusted],
    ["the wrong host's certificate", coded("ERR_TLS_CERT_ALTNAME_INVALID"), untrusted],
    ["an unknown issuer", coded("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), untrusted],
    ["a certificate of one's own", coded("DEPTH_ZERO_SELF_SIGNED_CERT"), untrusted],
  ])("%s", (_name, error, meaning) => {
    expect(classify({ error })).toMatchObject(meaning);
    expect(classify({ error: fetched(error) })).toMatchObject(meaning);
  });

  it("is a fault of the program when no code says otherwise", () => {
    expect(classify({ error: fetched(new Error("invalid url")) })).toMatchObject({ class: "permanent" });
    expect(classify({ error: new AggregateError([]) })).toMatchObject({ class: "unknown" });
  });
});
