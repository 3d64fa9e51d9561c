// Case 041: a non-idempotent request was repeated after a reset that followed the commit.
import { expect, it } from "vitest";
import { serve } from "../../../test/lib/http.ts";
import { dependency, fullJitter } from "../../index.node.ts";
import { fetch } from "./fetch.ts";

/** Commits each new key, or each request without one, and breaks the connection instead of answering the first. */
async function orders() {
  const committed: string[] = [];
  const answers = new Map<string, string>();
  const server = await serve((request, response) => {
    const key = request.headers["idempotency-key"] as string | undefined;
    const stored = key === undefined ? undefined : answers.get(key);
    const answer = stored ?? `order ${committed.length + 1}`;
    if (stored === undefined) committed.push(answer);
    if (key !== undefined) answers.set(key, answer);
    if (server.seen.length === 1) request.socket.destroy();
    else response.end(answer);
  });
  const retry = { attempts: 3, backoff: fullJitter({ baseMs: 1, capMs: 1 }) };
  const buy = dependency({ name: "orders" }).operation("buy", { retry });
  const outcome = (idempotencyKey?: string) =>
    buy.outcome(
      (attempt) => fetch(server.url, attempt, { method: "POST", body: "1" }).then((r) => r.text()),
      {
        idempotencyKey,
      },
    );
  return { committed, seen: server.seen, outcome };
}

it("without a key: no retry, outcome unknown", async () => {
  const { committed, seen, outcome } = await orders();
  expect(await outcome()).toMatchObject({
    kind: "failed",
    class: "transient",
    effect: "unknown",
    stoppedBy: { by: "retry", reason: "not repeatable" },
  });
  expect([seen.length, committed.length]).toEqual([1, 1]);
});

it("with a key: retried, one effect, and the first answer comes back", async () => {
  const { committed, seen, outcome } = await orders();
  expect(await outcome("k-1")).toMatchObject({ kind: "ok", value: "order 1" });
  expect([seen.length, committed.length]).toEqual([2, 1]);
});
