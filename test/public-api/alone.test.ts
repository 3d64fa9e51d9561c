// An entry that makes guarded calls must find Node by itself: a program may import nothing else of this package. In
// one process with the other tests, something has always plugged Node in already, hence a process for each.
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { root } from "../lib/repo.ts";

const server = `
  import { createServer } from "node:http";
  import { once } from "node:events";
  const listening = async (handler) => {
    const server = createServer(handler).listen(0, "127.0.0.1");
    await once(server, "listening");
    return { server, origin: "http://127.0.0.1:" + server.address().port };
  };
`;

const programs: Record<string, string> = {
  "plimsoll/undici": `${server}
    import { Agent } from "undici";
    import { guard } from "plimsoll/undici";
    const { server: backend, origin } = await listening((_, response) => response.end("whole"));
    const agent = new Agent().compose(guard({ name: "stock", operation: { attemptTimeoutMs: 20000 } }));
    const { body } = await agent.request({ origin, path: "/", method: "GET" });
    console.log(await body.text());
    await agent.close();
    backend.close();`,
  "plimsoll/http": `${server}
    import { get } from "node:http";
    import { guardedHandler } from "plimsoll/http";
    const { server: guarded, origin } = await listening(
      guardedHandler({ name: "stock", bulkhead: { limit: 1 } }, (_, response) => response.end("whole")));
    const [answer] = await once(get(origin, { agent: false }), "response");
    console.log((await answer.setEncoding("utf8").toArray()).join(""));
    guarded.close();`,
  "plimsoll/aws": `${server}
    import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
    import { guardedAws } from "plimsoll/aws";
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
    const { server: backend, origin: endpoint } = await listening((_, response) => response.end('{"TableNames":["whole"]}'));
    const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
    const client = new DynamoDBClient({ endpoint, region: "us-east-1", credentials });
    const db = guardedAws(client, { name: "dynamodb", operation: { attemptTimeoutMs: 20000 } });
    const { TableNames } = await db.send(new ListTablesCommand({}));
    console.log(TableNames[0]);
    client.destroy();
    backend.close();`,
  "plimsoll/pg": `
    import { guardedPool } from "plimsoll/pg";
    // Port 1 of loopback is nobody's: that the call is guarded shows in its being refused there, and in no other error.
    const pool = guardedPool({ name: "db", size: 1, connection: { host: "127.0.0.1", port: 1 } });
    const one = pool.operation("one", { attemptTimeoutMs: 20000 });
    console.log(await one((connection) => connection.query("select 1")).then(() => "whole", (error) => error.code));
    await pool.end();`,
  "plimsoll/ky": `${server}
    import ky from "ky";
    import { guard } from "plimsoll/ky";
    const { server: backend, origin } = await listening((_, response) => response.end("whole"));
    const api = guard(ky, { name: "stock", operation: { attemptTimeoutMs: 20000 } });
    console.log(await api(origin).text());
    backend.close();
    backend.closeAllConnections();`,
  "plimsoll/axios": `${server}
    import axios from "axios";
    import { guard } from "plimsoll/axios";
    const { server: backend, origin } = await listening((_, response) => response.end("whole"));
    const api = guard(axios, { name: "stock", operation: { attemptTimeoutMs: 20000 } });
    console.log((await api.get(origin)).data);
    backend.close();
    backend.closeAllConnections();`,
  "plimsoll/got": `${server}
    import got from "got";
    import { guard } from "plimsoll/got";
    const { server: backend, origin } = await listening((_, response) => response.end("whole"));
    const api = guard(got, { name: "stock", operation: { attemptTimeoutMs: 20000 } });
    console.log(await api(origin).text());
    backend.close();
    backend.closeAllConnections();`,
  "plimsoll/redis": `
    import { Redis } from "ioredis";
    import { guardedRedis, NO_REPEATS } from "plimsoll/redis";
    // Port 1 of loopback is nobody's, and this client does not try twice.
    const client = new Redis({ ...NO_REPEATS, port: 1, lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {});
    const one = guardedRedis(client, { name: "cache" }).operation("one", { attemptTimeoutMs: 20000 });
    console.log(await one((redis) => redis.get("one")).catch((error) => error.reason));`,
};
const said: Record<string, string> = {
  "plimsoll/aws": "whole",
  "plimsoll/undici": "whole",
  "plimsoll/http": "whole",
  "plimsoll/pg": "ECONNREFUSED",
  "plimsoll/ky": "whole",
  "plimsoll/axios": "whole",
  "plimsoll/got": "whole",
  "plimsoll/redis": "closed",
};

it.each(Object.keys(programs))("%s works in a program that imports no other entry", (entry) => {
  const args = ["--input-type=module", "--eval", programs[entry] ?? ""];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  expect({ status, stdout: stdout.trim(), stderr }).toEqual({ status: 0, stdout: said[entry], stderr: "" });
});
