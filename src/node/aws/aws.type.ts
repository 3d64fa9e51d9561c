// What a guarded client takes and gives, by its types.
import { type DynamoDBClient, GetItemCommand, type GetItemCommandOutput } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocumentClient, PutCommand, type PutCommandOutput } from "@aws-sdk/lib-dynamodb";
import { type AwsClient, guardedAws } from "./index.ts";

declare const client: DynamoDBClient;
declare const documents: DynamoDBDocumentClient;
declare const stranger: AwsClient<{ readonly only: "theirs" }>;

const get = new GetItemCommand({ TableName: "stock", Key: {} });
const db = guardedAws(client, { name: "dynamodb" });
export const output: Promise<GetItemCommandOutput> = db.send(get, { deadline: 1 });
export const put: Promise<PutCommandOutput> = guardedAws(documents, { name: "d" }).send(
  new PutCommand({ TableName: "stock", Item: {} }),
);
// @ts-expect-error: a command of another service
guardedAws(stranger, { name: "s3" }).send(get);
// @ts-expect-error: what the SDK takes there
db.send(get, { abortSignal: undefined });
// @ts-expect-error: no fallback
guardedAws(client, { name: "dynamodb", operation: { fallback: () => 1 } });
