// What may be repeated over HTTP: every method × with a key or without × every way in which a request can end, on real
// sockets, with what the server saw and did. Rules: RFC 9110 §9.2.2 (methods), §15 (statuses), RFC 8470 (425), RFC 6585
// (429), the draft on Idempotency-Key, and the resilience notes, §03 ("retried only with its key").
import { describe, expect, it } from "vitest";
import { immediately } from "../../src/core/index.ts";
import { guard } from "../../src/node/fetch/index.ts";
import { NodeRuntime } from "../../src/node/runtime.ts";
import { serve } from "../lib/http.ts";

const METHODS = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH"] as const;
const NOT_IDEMPOTENT: readonly string[] = ["POST", "PATCH"];

/** Whether the second attempt of two is made: always, never, or only of a request whose repeat is harmless. */
type Rule = "always" | "never" | "ifHarmless";

/** How a request ends, whether the server has done its work by then, and whether it is sent once more. */
const FATES: readonly [fate: string, commits: boolean, rule: Rule][] = [
  ["200", true, "never"],
  ["204", true, "never"],
  ["400", false, "never"],
  ["401", false, "never"],
  ["404", false, "never"],
  ["408", false, "ifHarmless"],
  ["409", false, "never"],
  ["422", false, "never"],
  ["425", false, "always"],
  ["429", false, "ifHarmless"],
  ["500", true, "ifHarmless"],
  ["501", false, "never"],
  ["502", true, "ifHarmless"],
  ["503", false, "ifHarmless"],
  ["503, not executed", false, "always"],
  ["503, overloaded", false, "never"],
  ["504", true, "ifHarmless"],
  ["reset before the commit", false, "ifHarmless"],
  ["reset after the commit", true, "ifHarmless"],
  ["no answer", true, "ifHarmless"],
  ["the caller leaves", true, "never"],
];

const HEADERS: Record<string, Record<string, string>> = {
  "503, not executed": { "x-plimsoll-not-executed": "true" },
  "503, overloaded": { "x-envoy-overloaded": "true" },
};

/** What one request came to. */
interface Seen {
  readonly requests: number;
  /** Effects in the server, which does what it has done for a key only once. */
  readonly effects: number;
}

async function sent(method: string, key: string | null, fate: string, commits: boolean): Promise<Seen> {
  const leaving = new AbortController();
  const keys = new Set<string>();
  let effects = 0;
  const { url, seen } = await serve((request, response) => {
    request.resume().on("end", () => {
      const asked = String(request.headers["idempotency-key"] ?? "");
      if (commits && !(asked !== "" && keys.has(asked))) effects++;
      keys.add(asked);
      if (fate === "the caller leaves") leaving.abort();
      else if (fate.startsWith("reset")) request.socket.destroy();
      else if (fate !== "no answer") response.writeHead(Number(fate.slice(0, 3)), HEADERS[fate]).end();
    });
  });
  const operation = {
    retry: { attempts: 2, backoff: immediately },
    // The only one that is to time out must reach the server first, on a busy machine too.
    attemptTimeoutMs: fate === "no answer" ? 3_000 : 60_000,
  };
  const fetch = guard({ name: "stock", budget: "none", operation }, new NodeRuntime());
  const headers: Record<string, string> = key === null ? {} : { "idempotency-key": key };
  const body = ["PUT", "POST", "PATCH"].includes(method) ? "six of them" : null;
  const asked = fetch(url, { method, headers, body, signal: leaving.signal });
  await asked.then((response) => response.arrayBuffer()).catch(() => {});
  return { requests: seen.length, effects };
}

describe.each(FATES)("HTTP: %s", (fate, commits, rule) => {
  it("is repeated where that is right, whatever the method, with a key or without", async () => {
    const rows = METHODS.flatMap((method) => [null, '"order-7"'].map((key) => [method, key] as const));
    const found = await Promise.all(rows.map(([method, key]) => sent(method, key, fate, commits)));
    const expected = rows.map(([method, key]): Seen => {
      const harmless = !NOT_IDEMPOTENT.includes(method) || key !== null;
      const again = rule === "always" || (rule === "ifHarmless" && harmless);
      const requests = again ? 2 : 1;
      return { requests, effects: commits ? (key === null ? requests : 1) : 0 };
    });
    const shown = (list: readonly Seen[]) =>
      list.map((each, row) => `${rows[row]?.join(" ")}: ${each.requests} sent, ${each.effects} done`);
    expect(shown(found)).toEqual(shown(expected));
    // A write without a key is never done twice.
    found.forEach(({ effects }, row) => {
      if (NOT_IDEMPOTENT.includes(rows[row]?.[0] ?? "")) expect(effects).toBeLessThanOrEqual(1);
    });
  });
});
