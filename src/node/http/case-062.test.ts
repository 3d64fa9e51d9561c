// Case 062: parsing a deadline header overflowed, or broke the format.
import { describe, expect, it } from "vitest";
import { serve } from "../../../test/lib/http.ts";
import { guardedHandler } from "./handler.ts";
import type { HandlerOptions } from "./options.ts";

const ENVOY = "x-envoy-expected-rq-timeout-ms";
const DEFAULT_MS = 700;
const LONGEST_MS = 2 ** 31 - 1;

/** What a server makes of it: the ms that a request has, or a status. */
async function heard(value: string | string[], options: HandlerOptions = {}): Promise<number> {
  const listener = guardedHandler({ defaultTimeoutMs: DEFAULT_MS, ...options }, (_, response, context) => {
    response.end(String(context.deadline - context.arrivedAt));
  });
  const { url } = await serve(listener);
  const headers = [value].flat().map((line): [string, string] => [ENVOY, line]);
  const response = await fetch(url, { headers });
  const body = await response.text();
  return response.status === 200 ? Math.round(Number(body)) : response.status;
}

const INVALID = [
  "1e9",
  "-1",
  "",
  "12abc",
  "1.5",
  "0x10",
  "NaN",
  "Infinity",
  "9".repeat(10_240),
  ["100", "200"],
];

describe("what cannot be read", () => {
  it.each(INVALID)(
    "%j is ignored: the default holds, never no limit and never an instant end",
    async (value) => {
      expect(await heard(value)).toBe(DEFAULT_MS);
    },
  );

  it.each(INVALID)("%j is 400 where that is the rule", async (value) => {
    expect(await heard(value, { invalidDeadline: "reject" })).toBe(400);
  });
});

it("what is huge is clamped to what a timer takes, and to the server's own cap", async () => {
  expect(await heard("99999999999999999999")).toBe(LONGEST_MS);
  expect(await heard("2147483648")).toBe(LONGEST_MS);
  expect(await heard("99999999999999999999", { maxTimeoutMs: 600 })).toBe(600);
});

it("white space around it is HTTP's", async () => {
  expect(await heard("  500 ")).toBe(500);
});
