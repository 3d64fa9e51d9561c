// The SDK's own retry loop on our books: the real SDK against a real server.
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { error, type Reply, serveDynamo } from "../../../test/lib/dynamo.ts";
import { until } from "../../../test/lib/http.ts";
import {
  awsQuota,
  type BudgetSpec,
  concurrencyShare,
  constant,
  dependency,
  grpcThrottle,
  immediately,
  PLAIN_CALL,
  windowShare,
} from "../../index.node.ts";
import { inRequest } from "../context.ts";
import { budgetedRetries, type SdkRetryOptions } from "./index.ts";

const get = () => new GetItemCommand({ TableName: "stock", Key: { id: { S: "7" } } });

/** A client of a scripted server whose own loop asks a dependency's budget. */
async function made(budget: BudgetSpec | "none", options: SdkRetryOptions, ...replies: Reply[]) {
  const dynamo = await serveDynamo(...replies);
  const shared = dependency({ name: "dynamodb", budget });
  const retryStrategy = budgetedRetries(shared, { backoff: immediately, ...options });
  return { ...dynamo, shared, books: shared.budget, db: dynamo.client({ retryStrategy }) };
}

describe("the SDK's loop", () => {
  it("asks the dependency's budget, which others spend from as well", async () => {
    const { db, asked, shared, books } = await made({ ratio: 0, burst: 3 }, {}, error("ThrottlingException"));
    const other = shared.operation("other", {
      idempotent: true,
      retry: { attempts: 2, backoff: immediately },
    });
    await expect(db.send(get())).rejects.toMatchObject({ name: "ThrottlingException" });
    await other.outcome(() => Promise.reject(new Error("down")));
    expect([asked.length, books?.level]).toEqual([3, 0]);
    await expect(db.send(get())).rejects.toMatchObject({ $metadata: { attempts: 1 } });
    expect(books).toMatchObject({ firsts: 3, repeats: 3, reserved: 0 });
  });

  it("gives what the second attempt gives", async () => {
    const { db, books } = await made({}, {}, error("ThrottlingException"), { Item: { id: { S: "7" } } });
    const { Item, $metadata } = await db.send(get());
    expect([Item, $metadata.attempts, books?.repeats]).toEqual([{ id: { S: "7" } }, 2, 1]);
  });

  it("repeats what may have had an effect only if it was told that it may", async () => {
    for (const reply of ["reset", error("InternalServerError", 500)] as const) {
      const writes = await made({}, {}, reply);
      await writes.db.send(get()).catch(() => {});
      const reads = await made({}, { idempotent: true, attempts: 2 }, reply);
      await reads.db.send(get()).catch(() => {});
      expect([writes.asked.length, reads.asked.length]).toEqual([1, 2]);
    }
  });

  it("waits as the backoff says, or the service", async () => {
    const { db, asked } = await made(
      {},
      { backoff: constant(100) },
      error("ThrottlingException"),
      error("ThrottlingException", 400, { "x-amz-retry-after": "50" }),
      {},
    );
    await db.send(get());
    const [first = 0, second = 0, third = 0] = asked.map(({ at }) => at);
    expect([second - first >= 99, third - second >= 149]).toEqual([true, true]);
  });

  it.each<[string, BudgetSpec]>([
    ["ratio", { ratio: 0, burst: 5 }],
    ["aws", awsQuota()],
    ["grpc", grpcThrottle({ maxTokens: 10, tokenRatio: 0.1 })],
    ["windowShare", windowShare()],
  ])(
    "leaves nothing reserved in a budget of kind %s when its caller leaves in the backoff",
    async (_kind, spec) => {
      const { db, asked, books } = await made(spec, { backoff: constant(60) }, error("ThrottlingException"));
      const caller = new AbortController();
      const answer = db.send(get(), { abortSignal: caller.signal });
      await until(() => asked.length === 1 && books?.reserved === 1);
      caller.abort();
      await expect(answer).rejects.toMatchObject({ name: "AbortError" });
      await until(() => books?.reserved === 0);
      expect([asked.length, books?.repeats]).toEqual([1, 1]);
    },
  );

  it("tells the budget of failures", async () => {
    const { db, books } = await made(
      grpcThrottle({ maxTokens: 10, tokenRatio: 1 }),
      {},
      error("SlowDown"),
      {},
    );
    await db.send(get());
    expect(books).toMatchObject({ level: 10, repeats: 1 });
    const failing = await made(grpcThrottle({ maxTokens: 10, tokenRatio: 1 }), {}, error("SlowDown"));
    await failing.db.send(get()).catch(() => {});
    expect(failing.books?.level).toBe(7);
  });

  it("waits no longer than the request has time in whose course it runs", async () => {
    const { db, asked } = await made({}, { backoff: constant(60_000) }, error("SlowDown"), {});
    const request = { fields: PLAIN_CALL, deadline: performance.now() + 10_000, signal: undefined };
    await expect(inRequest(request, () => db.send(get()))).rejects.toThrow("as scripted");
    expect(asked.length).toBe(1);
  });

  it("counts with AWS's own quota as AWS does", async () => {
    const { db, books } = await made(awsQuota(), { idempotent: true }, error("InternalServerError", 500), {});
    await db.send(get());
    expect(books?.level).toBe(500);
    const failing = await made(awsQuota(), { idempotent: true }, error("InternalServerError", 500));
    await failing.db.send(get()).catch(() => {});
    expect(failing.books?.level).toBe(472);
  });
});

it("refuses by name: wrong options, and a budget that must hear of every end", () => {
  const shared = dependency({ name: "dynamodb" });
  const refused = (field: string) => expect.objectContaining({ name: "OptionError", field });
  expect(() => budgetedRetries(shared, { attempts: 0 })).toThrow(refused("budgetedRetries.attempts"));
  expect(() => budgetedRetries(shared, { backoff: { kind: "no" } as never })).toThrow(
    refused("budgetedRetries.backoff.kind"),
  );
  expect(() => budgetedRetries(shared, { idempotent: 1 as never })).toThrow(
    refused("budgetedRetries.idempotent"),
  );
  expect(() => budgetedRetries(shared, { retries: 2 } as never)).toThrow(refused("budgetedRetries.retries"));
  const flights = dependency({ name: "dynamodb", budget: concurrencyShare() });
  expect(() => budgetedRetries(flights)).toThrow(refused("budgetedRetries.dependency"));
});
