// A real server that speaks as much of DynamoDB's protocol as the SDK needs, and says what the test says.
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { onTestFinished } from "vitest";
import { bodyOf, serve, type TestServer } from "./http.ts";

// What Node the SDK's releases of next year will need is no news to a test.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";

/** What the server does with a request: an output, an error by name, a reset, or nothing at all. */
export type Reply =
  | Readonly<Record<string, unknown>>
  | { readonly error: string; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | "reset"
  | "hang";

/** A request that the server has seen. */
export interface Asked {
  /** `GetItem` and the like. */
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage["headers"];
  readonly at: number;
}

/** A scripted DynamoDB, and what it was asked. */
export interface TestDynamo extends Pick<TestServer, "sockets" | "url"> {
  readonly asked: readonly Asked[];
  /** A client of it; its own retries are as they are by default. */
  client(more?: DynamoDBClientConfig): DynamoDBClient;
}

/** An error of the service's. */
export function error(name: string, status = 400, headers: Readonly<Record<string, string>> = {}): Reply {
  return { error: name, status, headers };
}

/** Serves until the test is over: the n-th request gets the n-th reply, and the last one stands for all that follow. */
export async function serveDynamo(...replies: (Reply | ((asked: Asked) => Reply))[]): Promise<TestDynamo> {
  const asked: Asked[] = [];
  const { url, sockets } = await serve(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    const operation = String(request.headers["x-amz-target"]).replace(/^.*\./, "");
    const input = body.startsWith("{") ? JSON.parse(body) : {};
    const seen = { operation, input, headers: request.headers, at: performance.now() };
    asked.push(seen);
    const scripted = replies[asked.length - 1] ?? replies.at(-1) ?? {};
    const reply = typeof scripted === "function" ? scripted(seen) : scripted;
    if (reply === "hang") return;
    if (reply === "reset") return void request.socket.resetAndDestroy();
    const { error: name, status = 200, headers = {} } = reply as Partial<Extract<Reply, { status: number }>>;
    response.writeHead(status, { "content-type": "application/x-amz-json-1.0", ...headers });
    const type = `com.amazonaws.dynamodb.v20120810#${name}`;
    response.end(JSON.stringify(name === undefined ? reply : { __type: type, message: "as scripted" }));
  });
  const client = (more: DynamoDBClientConfig = {}): DynamoDBClient => {
    const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
    const made = new DynamoDBClient({ endpoint: url, region: "us-east-1", credentials, ...more });
    onTestFinished(() => made.destroy());
    return made;
  };
  return { url, sockets, asked, client };
}

/** A middleware that replaces a request's body by a stream of it, as a body of S3 may be. */
export const asStream = {
  name: "asStream",
  step: "build",
  make:
    (next: (args: never) => Promise<never>) =>
    (args: { request: { body: unknown } }): Promise<never> => {
      args.request.body = Readable.from([Uint8Array.from(args.request.body as Uint8Array)]);
      return next(args as never);
    },
} as const;
