// Case 040: a non-idempotent request was repeated after the client's own timeout.
import { expect, it } from "vitest";
import { serve, sleep } from "../../../test/lib/http.ts";
import { dependency, fullJitter, type OperationOptions } from "../../index.node.ts";
import { fetch } from "./fetch.ts";

const options: OperationOptions = {
  attemptTimeoutMs: 500,
  retry: { attempts: 3, backoff: fullJitter({ baseMs: 1, capMs: 1 }) },
};

it.each(["POST", "PATCH"])("%s without a key: one request, outcome unknown", async (method) => {
  const { url, seen } = await serve(() => {});
  const buy = dependency({ name: "orders" }).operation("buy", options);
  const outcome = await buy.outcome((attempt) =>
    fetch(url, attempt, { method, body: "1" }).then((r) => r.text()),
  );
  await sleep(100);
  expect(seen).toHaveLength(1);
  expect(outcome).toMatchObject({
    kind: "failed",
    ended: "timeout",
    effect: "unknown",
    stoppedBy: { by: "retry", reason: "not repeatable" },
  });
});

it("with a key: the same key on every attempt", async () => {
  const { url, seen } = await serve((_, response) => {
    if (seen.length === 3) response.end("once");
  });
  const buy = dependency({ name: "orders" }).operation("buy", options);
  const work = buy((attempt) => fetch(url, attempt, { method: "POST", body: "1" }).then((r) => r.text()), {
    idempotencyKey: "order-7",
  });
  expect(await work).toBe("once");
  expect(seen.map(({ headers }) => headers["idempotency-key"])).toEqual(Array(3).fill('"order-7"'));
});
