// Case 032: one call's exhausted attempts stopped another call's retries, in one client of the SDK.
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, it } from "vitest";
import { type Asked, error, serveDynamo } from "../../../test/lib/dynamo.ts";
import { dependency, immediately } from "../../index.node.ts";
import { budgetedRetries, guardedAws } from "./index.ts";

const get = (id: string) => new GetItemCommand({ TableName: "stock", Key: { id: { S: id } } });
const idOf = ({ input }: Asked): string => (input.Key as { id: { S: string } }).id.S;

/** A fails always; B fails once. */
async function stock() {
  let failedB = false;
  return serveDynamo((asked) => {
    if (idOf(asked) === "B" && failedB) return { Item: { id: { S: "B" } } };
    failedB ||= idOf(asked) === "B";
    return error("ThrottlingException");
  });
}

const budget = { ratio: 0, burst: 3 };

it.each(["guardedAws", "budgetedRetries"])(
  "%s: B has a counter of its own; only the budget is shared",
  async (way) => {
    const dynamo = await stock();
    const shared = dependency({ name: "dynamodb", budget });
    const guarded = guardedAws(dynamo.client(), {
      name: "dynamodb",
      budget,
      operation: { retry: { attempts: 3, backoff: immediately } },
    });
    const counted = dynamo.client({ retryStrategy: budgetedRetries(shared, { backoff: immediately }) });
    const send = (id: string) => (way === "guardedAws" ? guarded.send(get(id)) : counted.send(get(id)));
    const books = way === "guardedAws" ? guarded.dependency.budget : shared.budget;
    await expect(send("A")).rejects.toThrow("as scripted");
    expect((await send("B")).Item).toEqual({ id: { S: "B" } });
    expect(dynamo.asked.map(idOf)).toEqual(["A", "A", "A", "B", "B"]);
    expect([books?.level, books?.repeats]).toEqual([0, 3]);
    await expect(send("A")).rejects.toThrow("as scripted");
    expect(dynamo.asked.length).toBe(6);
  },
);
