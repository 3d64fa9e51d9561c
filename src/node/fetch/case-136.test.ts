// Case 136: hidden attempts.
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { serve } from "../../../test/lib/http.ts";
import { dependency } from "../../index.node.ts";
import { keepBooks } from "../../testing/index.ts";
import { NodeRuntime } from "../runtime.ts";
import { fetch } from "./fetch.ts";

it("case 136: one call of 4 × 3 requests is told as 1 call and 12 attempts, as the server counts them", async () => {
  const waiting: ServerResponse[] = [];
  const { url, seen } = await serve((_, response) => {
    waiting.push(response);
    // Only when an attempt and both its hedges are out do all three fail.
    if (waiting.length === 3) for (const each of waiting.splice(0)) each.writeHead(500).end();
  });
  const runtime = new NodeRuntime();
  const stock = dependency({ name: "stock", budget: "none" }, runtime);
  const books = keepBooks(runtime, [stock]);
  const told: number[] = [];
  runtime.listen((event) => void (event.type === "call.answered" && told.push(event.sent)));
  const view = stock.operation("view", {
    idempotent: true,
    retry: { attempts: 4, backoff: { kind: "constant", delayMs: 1 } },
    hedge: { delayMs: 20, attempts: 3 },
  });
  const outcome = await view.outcome((attempt) => fetch(url, attempt).then((response) => response.text()));
  expect(outcome.kind).toBe("failed");
  expect([seen.length, told]).toEqual([12, [12]]);
  expect(books.of("stock")).toMatchObject({ answered: 1, firsts: 1, repeats: 11 });
  books.check();
});
