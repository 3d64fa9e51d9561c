// A TCP relay in front of PostgreSQL that sees every message, and may drop it, hold it back, delay it, or cut the line.

import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";

/** One message of the protocol; `type` is empty for those that begin a connection. */
export interface Message {
  readonly type: string;
  readonly body: Buffer;
  readonly bytes: Buffer;
}

/**
 * What becomes of a message: it goes on, at once or 20 ms late, is dropped, cuts the line instead of going on, cuts it once it has gone on,
 * or from it on nothing goes on in this direction.
 */
export type Fate = "pass" | "late" | "drop" | "cut" | "pass and cut" | "hold";

/** One connection through the relay. */
export interface Line {
  /** Its number, from 1. */
  readonly number: number;
  /** Whether it asks for a cancel. */
  cancels: boolean;
  /** Ends it on both sides. */
  cut(): void;
}

/** What a test wants of the relay; it may change its mind at any time. */
export interface RelayRules {
  /** What becomes of a message from the client. */
  toServer?: (message: Message, line: Line) => Fate;
  /** What becomes of a message from the server. */
  toClient?: (message: Message, line: Line) => Fate;
  /** For how long a new connection is left alone before it is answered, in ms. */
  acceptAfterMs?: number;
  /** Speak TLS to the client, with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A relay that runs. */
export interface Relay {
  /** As the target's URL, through the relay. */
  readonly url: string;
  readonly rules: RelayRules;
  /** Connections: made so far, and open now. */
  readonly lines: { made: number; readonly open: Set<Line> };
  /** How many of them asked for a cancel. */
  readonly cancels: number;
}

const SSL_REQUEST = 80877103;
const CANCEL_REQUEST = 80877102;

/** Starts one in front of the server at `target`, until the test is over. */
export async function relay(target: string, rules: RelayRules = {}): Promise<Relay> {
  const to = new URL(target);
  const lines = { made: 0, open: new Set<Line>() };
  let cancels = 0;
  const server = createServer({ allowHalfOpen: false }, async (client) => {
    client.on("error", () => {});
    const line: Line = { number: ++lines.made, cancels: false, cut: () => client.destroy() };
    lines.open.add(line);
    client.on("close", () => lines.open.delete(line));
    if (rules.acceptAfterMs) await new Promise((done) => setTimeout(done, rules.acceptAfterMs));
    if (client.destroyed) return;
    join(client, connect(Number(to.port), to.hostname), line, rules, () => cancels++);
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  onTestFinished(async () => {
    for (const line of lines.open) line.cut();
    await new Promise((done) => server.close(done));
  });
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    rules,
    lines,
    get cancels() {
      return cancels;
    },
  };
}

function join(client: Socket, server: Socket, line: Line, rules: RelayRules, onCancel: () => void): void {
  server.on("error", () => {});
  client.setNoDelay(true);
  server.setNoDelay(true);
  line.cut = () => {
    client.destroy();
    server.destroy();
  };
  const down = new Framer(false);
  let near = client;
  const fromClient = new Framer(true);
  const upward = (chunk: Buffer): void => {
    for (const message of fromClient.push(chunk)) {
      const code = message.type === "" && message.bytes.length >= 8 ? message.bytes.readInt32BE(4) : 0;
      if (code === SSL_REQUEST) return secure();
      if (code === CANCEL_REQUEST) {
        line.cancels = true;
        onCancel();
      }
      act(rules.toServer?.(message, line) ?? "pass", message, client, server, line);
    }
  };
  const secure = (): void => {
    fromClient.restart();
    if (rules.tls === undefined) return void client.write("N");
    client.off("data", upward);
    client.write("S");
    near = new TLSSocket(client, { isServer: true, secureContext: createSecureContext(rules.tls) });
    near.on("error", () => {});
    near.on("data", upward);
    near.on("end", () => server.end());
  };
  client.on("data", upward);
  server.on("data", (chunk) => {
    for (const message of down.push(chunk)) {
      act(rules.toClient?.(message, line) ?? "pass", message, server, near, line);
    }
  });
  client.on("close", () => server.destroy());
  server.on("close", () => near.end());
}

/** Held back is the reading: what came after the message stays where it is. */
function act(fate: Fate, message: Message, from: Socket, to: Socket, line: Line): void {
  if (fate === "cut") line.cut();
  else if (fate === "hold") from.pause();
  else if (fate === "pass and cut") to.write(message.bytes, () => line.cut());
  else if (fate === "late") {
    to.cork(); // and all that comes after it, so that the order stays
    to.write(message.bytes);
    setTimeout(() => to.uncork(), 20);
  } else if (fate === "pass") to.write(message.bytes);
}

/** Makes messages of what comes in pieces. */
class Framer {
  #rest = Buffer.alloc(0);
  #begins: boolean;
  readonly #asks: boolean;

  /** Whoever asks begins with messages that have no type. */
  constructor(asks: boolean) {
    this.#asks = asks;
    this.#begins = asks;
  }

  /** The next message is a first one again. */
  restart(): void {
    this.#begins = this.#asks;
  }

  push(chunk: Buffer): Message[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const found: Message[] = [];
    for (;;) {
      const head = this.#begins ? 0 : 1;
      if (this.#rest.length < head + 4) return found;
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return found;
      const bytes = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      const type = this.#begins ? "" : String.fromCharCode(bytes[0] ?? 0);
      this.#begins = false;
      found.push({ type, body: bytes.subarray(head + 4), bytes });
    }
  }
}

/** The text of a simple query; empty for any other message. */
export function textOf({ type, body }: Message): string {
  return type === "Q" ? body.toString("utf8", 0, body.length - 1) : "";
}
