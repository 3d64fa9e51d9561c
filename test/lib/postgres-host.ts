// One PostgreSQL for the whole run, started when the first test asks for it. Vitest calls this before any test.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { type PostgresServer, startPostgres } from "../../shop/src/database/server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where to ask for PostgreSQL's URL. */
    postgresHost: string;
  }
}

/** Begins to answer; returns how to end. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const host = createServer(async (_, response) => {
    server ??= startPostgres({ url: process.env.PLIMSOLL_POSTGRES, maxConnections: 300 });
    try {
      response.end((await server).url);
    } catch (error) {
      response.writeHead(500).end((error as Error).message);
    }
  });
  await new Promise<void>((done) => void host.listen(0, "127.0.0.1", done));
  provide("postgresHost", `http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
  return async () => {
    host.closeAllConnections();
    host.close();
    await (await server?.catch(() => undefined))?.stop();
  };
}
