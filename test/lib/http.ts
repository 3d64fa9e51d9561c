// Real servers on real sockets, gone when the test is over.
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A server of a test. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Requests seen, in order. */
  readonly seen: IncomingMessage[];
  /** Connections: open now, the most at once, and closed so far. (After a reset undici opens a spare one.) */
  readonly sockets: { open: number; most: number; closed: number };
}

function track(server: Pick<Server, "on">): TestServer["sockets"] & { all: Set<Socket> } {
  const sockets = { open: 0, most: 0, closed: 0, all: new Set<Socket>() };
  server.on("connection", (socket: Socket) => {
    sockets.most = Math.max(sockets.most, ++sockets.open);
    sockets.all.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.open--;
      sockets.closed++;
      sockets.all.delete(socket);
    });
  });
  return sockets;
}

async function listen(
  server: Pick<Server, "listen" | "close" | "address">,
  all: Set<Socket>,
): Promise<number> {
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  onTestFinished(async () => {
    for (const socket of all) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}

/** Serves until the test is over. */
export async function serve(listener: RequestListener): Promise<TestServer> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    listener(request, response);
  });
  const sockets = track(server);
  const port = await listen(server, sockets.all);
  return { url: `http://127.0.0.1:${port}/`, port, server, seen, sockets };
}

/** Accepts connections and says what the test says: nothing, say. */
export async function serveTcp(
  onSocket: (socket: Socket) => void = () => {},
): Promise<Omit<TestServer, "server" | "seen">> {
  const server = createTcpServer(onSocket);
  const sockets = track(server as unknown as Server);
  const port = await listen(server as unknown as Server, sockets.all);
  return { url: `http://127.0.0.1:${port}/`, port, sockets };
}

/** All of a request's body. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Waits until something holds; the test's own timeout bounds the wait. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(2);
}

/** Waits. */
export function sleep(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms));
}
