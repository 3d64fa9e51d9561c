// The real SDK against a real server on loopback: what is sent, how often, and what comes of it.
import {
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { asStream, error, type Reply, serveDynamo } from "../../../test/lib/dynamo.ts";
import { until } from "../../../test/lib/http.ts";
import { immediately, OptionError, RefusedError, TimeoutError } from "../../index.node.ts";
import { type AwsGuardOptions, guardedAws } from "./index.ts";

const Key = { id: { S: "7" } };
const get = () => new GetItemCommand({ TableName: "stock", Key });
const put = () => new PutItemCommand({ TableName: "stock", Item: Key });
const transact = (ClientRequestToken?: string) =>
  new TransactWriteItemsCommand({
    TransactItems: [{ Put: { TableName: "stock", Item: Key } }],
    ...(ClientRequestToken !== undefined && { ClientRequestToken }),
  });
const ITEM = { Item: Key };

/** A guarded client of a scripted server. */
async function made(replies: Reply[], more: Partial<AwsGuardOptions> = {}) {
  const dynamo = await serveDynamo(...replies);
  const client = dynamo.client();
  const db = guardedAws(client, {
    name: "dynamodb",
    idempotent: ["GetItem"],
    operation: { retry: { attempts: 3, backoff: immediately } },
    ...more,
  });
  return { ...dynamo, bare: client, db };
}

describe("an attempt", () => {
  it("is one request, numbered as the SDK numbers its own; the SDK's retries are off", async () => {
    const { db, asked } = await made([error("InternalServerError", 500)]);
    const outcome = await db.outcome(get());
    expect(outcome).toMatchObject({
      kind: "failed",
      class: "transient",
      stoppedBy: { reason: "attempts spent" },
    });
    expect(asked.map(({ headers }) => headers["amz-sdk-request"])).toEqual([
      "attempt=1; max=3",
      "attempt=2; max=3",
      "attempt=3; max=3",
    ]);
    expect(new Set(asked.map(({ headers }) => headers["amz-sdk-invocation-id"])).size).toBe(1);
  });

  it("is signed anew, and gives what the SDK gives", async () => {
    const { db, asked } = await made([error("ThrottlingException"), ITEM]);
    const { Item, $metadata } = await db.send(get());
    expect([Item, $metadata.attempts, asked.length]).toEqual([Key, 2, 2]);
    expect(asked.map(({ input }) => input)).toEqual(Array(2).fill({ TableName: "stock", Key }));
    expect(asked.every(({ headers }) => String(headers.authorization).startsWith("AWS4-HMAC-SHA256"))).toBe(
      true,
    );
  });

  it("leaves the client and the command as they are: sent without guards, the SDK retries by itself", async () => {
    const { db, bare, asked } = await made([ITEM, error("ThrottlingException"), ITEM]);
    const command = get();
    await db.send(command);
    const { $metadata } = await bare.send(command);
    expect([$metadata.attempts, asked.length]).toEqual([2, 3]);
  });

  it("keeps the SDK's own error, fields and class", async () => {
    const { db } = await made([error("ResourceNotFoundException")]);
    await expect(db.send(get())).rejects.toMatchObject({
      name: "ResourceNotFoundException",
      $fault: "client",
      $metadata: { httpStatusCode: 400 },
    });
  });
});

describe("what is repeated", () => {
  it.each(["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"])(
    "%s, a 400: a write too, since it was turned away",
    async (name) => {
      const { db, asked } = await made([error(name), {}]);
      await db.send(put());
      expect(asked.length).toBe(2);
    },
  );

  it.each<[string, Reply]>([
    ["a 500", error("InternalServerError", 500)],
    ["a lost connection", "reset"],
  ])("%s: only what is known to be idempotent", async (_name, reply) => {
    const read = await made([reply, ITEM]);
    expect((await read.db.send(get())).Item).toEqual(Key);
    const write = await made([reply, {}]);
    expect(await write.db.outcome(put())).toMatchObject({
      kind: "failed",
      class: "transient",
      effect: "unknown",
      stoppedBy: { by: "retry", reason: "not repeatable" },
    });
    expect([read.asked.length, write.asked.length]).toEqual([2, 1]);
  });

  it("a refused connection: a write too, since nothing was sent", async () => {
    const { client } = await serveDynamo();
    const nobody = guardedAws(client({ endpoint: "http://127.0.0.1:1" }), {
      name: "nobody",
      operation: { retry: { backoff: immediately } },
    });
    expect(await nobody.outcome(put())).toMatchObject({
      kind: "failed",
      ended: "unsent",
      effect: "none",
      stoppedBy: { reason: "attempts spent" },
    });
  });

  it("no wrong request", async () => {
    const { db, asked } = await made([error("ConditionalCheckFailedException")]);
    expect(await db.outcome(get())).toMatchObject({ class: "permanent" });
    expect(asked.length).toBe(1);
  });

  it("no request whose body was a stream: it has been read", async () => {
    const { db, asked } = await made([error("ThrottlingException"), {}]);
    const command = put();
    command.middlewareStack.add(asStream.make as never, { name: asStream.name, step: asStream.step });
    expect(await db.outcome(command)).toMatchObject({
      pushback: "never",
      stoppedBy: { reason: "told not to" },
    });
    expect(asked.length).toBe(1);
  });

  it("what was refused for the clock of this machine, once the SDK has set it right", async () => {
    const inAnHour = new Date(Date.now() + 3_600_000);
    const { db, asked } = await made([
      error("RequestTimeTooSkewed", 403, { date: inAnHour.toUTCString() }),
      {},
    ]);
    await db.send(put());
    const [first = "", second = ""] = asked.map(({ headers }) => String(headers["x-amz-date"]));
    const hour = (text: string) => Number(text.slice(9, 11)) * 60 + Number(text.slice(11, 13));
    expect([asked.length, (hour(second) - hour(first) + 1_440) % 1_440]).toEqual([2, expect.closeTo(60, -1)]);
  });
});

describe("the service's word", () => {
  it("x-amz-retry-after is waited for", async () => {
    const { db, asked } = await made([error("SlowDown", 503, { "x-amz-retry-after": "150" }), ITEM]);
    await db.send(get());
    expect((asked[1]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThanOrEqual(149);
  });

  it.each([{ "x-amz-retry-after": "30000" }, { "retry-after": "30" }])(
    "%j is more than there is time for: fails now",
    async (headers) => {
      const { db, asked } = await made([error("SlowDown", 503, headers), ITEM], {
        operation: { totalTimeoutMs: 20_000, retry: { backoff: immediately } },
      });
      expect(await db.outcome(get())).toMatchObject({ pushback: 30_000, stoppedBy: { by: "deadline" } });
      expect(asked.length).toBe(1);
    },
  );
});

describe("time", () => {
  it("an attempt that hangs is given up, its connection closed, and another sent", async () => {
    const { db, asked, sockets } = await made(["hang", ITEM], {
      operation: { attemptTimeoutMs: 300, retry: { attempts: 2, backoff: immediately } },
    });
    expect((await db.send(get())).Item).toEqual(Key);
    expect(asked.length).toBe(2);
    await until(() => sockets.closed === 1 && db.operation("GetItem")?.abandoned === 0);
  });

  it("the caller's deadline bounds all, and its signal ends all", async () => {
    const { db, sockets } = await made(["hang"]);
    await expect(db.send(get(), { deadline: performance.now() + 200 })).rejects.toThrow(TimeoutError);
    const caller = new AbortController();
    const answer = db.send(get(), { signal: caller.signal });
    await until(() => sockets.open === 1);
    caller.abort(new Error("gone"));
    await expect(answer).rejects.toThrow("gone");
    await until(() => sockets.open === 0);
  });
});

describe("guards", () => {
  it("are a command's own; what a dependency has is shared", async () => {
    const { db, asked } = await made([error("ThrottlingException")], {
      bulkhead: { limit: 1 },
      operation: { breaker: { window: { calls: 2 }, minimumCalls: 2 } },
      operations: { Query: { breaker: { window: { calls: 50 } } } },
    });
    for (let i = 0; i < 2; i++) await db.outcome(get());
    expect(await db.outcome(get())).toMatchObject({ kind: "rejected", by: "breaker" });
    const query = new QueryCommand({ TableName: "stock" });
    for (let i = 0; i < 3; i++) expect(await db.outcome(query)).toMatchObject({ kind: "failed" });
    expect([
      db.operation("GetItem")?.breaker?.state.name,
      db.operation("Query")?.breaker?.state.name,
    ]).toEqual(["open", "closed"]);
    expect(asked.length).toBe(5);
    const two = await Promise.allSettled([db.send(put()), db.send(query)]);
    expect(two[1]).toMatchObject({ status: "rejected", reason: expect.any(RefusedError) });
  });

  it("hedge reads, and no writes", async () => {
    const { db, asked } = await made(["hang", ITEM, {}], { operation: { hedge: { delayMs: 20 } } });
    expect((await db.send(get())).Item).toEqual(Key);
    await db.send(put());
    expect(asked.map(({ operation }) => operation)).toEqual(["GetItem", "GetItem", "PutItem"]);
  });
});

describe("an idempotency token", () => {
  const tokens = (asked: readonly { input: Readonly<Record<string, unknown>> }[]) =>
    asked.map(({ input }) => input.ClientRequestToken);

  it("is one for all attempts of a call, and another for another call", async () => {
    const { db, asked } = await made([error("InternalServerError", 500), "reset", {}]);
    await db.send(transact());
    await db.send(transact());
    const [first, second, third, other] = tokens(asked);
    expect([asked.length, second, third]).toEqual([4, first, first]);
    expect([first, other]).toEqual([
      expect.stringMatching(/^.{36}$/),
      expect.not.stringMatching(first as string),
    ]);
  });

  it("is the call's key, or the command's own, and never two", async () => {
    const { db, asked } = await made([error("InternalServerError", 500), {}]);
    await db.send(transact(), { idempotencyKey: "order-7" });
    await db.send(transact("mine"));
    await db.send(transact("mine"), { idempotencyKey: "mine" });
    expect(tokens(asked)).toEqual(["order-7", "order-7", "mine", "mine"]);
    await expect(db.send(transact("mine"), { idempotencyKey: "other" })).rejects.toThrow(OptionError);
    await expect(db.outcome(put(), { idempotencyKey: "order-7" })).rejects.toMatchObject({
      field: "call.idempotencyKey",
    });
    expect(asked.length).toBe(4);
  });
});

it("guards a document client as well", async () => {
  const dynamo = await serveDynamo(error("ThrottlingException"), {}, error("InternalServerError", 500));
  const documents = guardedAws(DynamoDBDocumentClient.from(dynamo.client()), {
    name: "dynamodb",
    operation: { retry: { attempts: 2, backoff: immediately } },
  });
  await documents.send(new PutCommand({ TableName: "stock", Item: { id: "7", left: 3 } }));
  expect(dynamo.asked.map(({ input }) => input.Item)).toEqual(
    Array(2).fill({ id: { S: "7" }, left: { N: "3" } }),
  );
  await documents.outcome(
    new TransactWriteCommand({ TransactItems: [{ Put: { TableName: "stock", Item: { id: "7" } } }] }),
  );
  const [, , first, second, ...more] = dynamo.asked;
  expect([second?.input.ClientRequestToken, more]).toEqual([first?.input.ClientRequestToken, []]);
  expect(first?.input.ClientRequestToken).toMatch(/^.{36}$/);
});

describe("is refused by name", () => {
  it.each([
    [{ name: "" }, "dependency.name"],
    [{ name: "db", operation: { retry: { attempts: 0 } } }, "db.*.retry.attempts"],
    [{ name: "db", operation: { idempotent: true } }, "guardedAws.operation.idempotent"],
    [{ name: "db", operation: { fallback: () => 1 } }, "guardedAws.operation.fallback"],
    [
      { name: "db", operations: { Query: { classify: () => undefined } } },
      "guardedAws.operations.Query.classify",
    ],
    [{ name: "db", operations: { Query: { attemptTimeoutMs: 0 } } }, "db.Query.attemptTimeoutMs"],
    [{ name: "db", operations: { QueryCommand: {} } }, "guardedAws.operations"],
    [{ name: "db", operations: [] }, "guardedAws.operations"],
    [{ name: "db", idempotent: ["GetItemCommand"] }, "guardedAws.idempotent"],
    [{ name: "db", idempotent: "GetItem" }, "guardedAws.idempotent"],
    [{ name: "db", retry: {} }, "dependency.retry"],
  ])("%j", async (options, field) => {
    const { client } = await serveDynamo();
    const refused = expect.objectContaining({ name: "OptionError", field });
    expect(() => guardedAws(client(), options as never)).toThrow(refused);
  });

  it("what is no client, and no command", async () => {
    expect(() => guardedAws({} as never, { name: "db" })).toThrow("guardedAws.client");
    const { client, asked } = await serveDynamo();
    const db = guardedAws(client(), { name: "db" });
    for (const wrong of [undefined, {}, { input: {} }, { schema: [9, "n", "Name", 0] }])
      await expect(db.send(wrong as never)).rejects.toMatchObject({ name: "OptionError", field: "command" });
    expect(asked.length).toBe(0);
  });
});
