/**
 * A CancelRequest: the server is asked, over a connection of its own, to stop what a session does.
 *
 * It names the session and not the statement, so one that arrives late hits whatever runs next. The server closes the
 * cancel's connection only after it has signalled the session: that is the one thing by which its arrival is known.
 * It goes to the very address that the session is connected to, since a name may stand for several servers, and over
 * TLS or a Unix socket if the session does. Source: PostgreSQL's manual, "Canceling Requests in Progress".
 */
import { isIP, type Socket } from "node:net";
import pg, { type PoolClient } from "pg";
import type { Session } from "./session.ts";

/** What a cancel needs of pg's own connection, which does the talking: it knows TLS and Unix sockets already. */
interface Line {
  readonly stream: { destroy(): void };
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
  on(event: "connect" | "sslconnect" | "end", listener: () => void): void;
  on(event: "error", listener: (error: Error) => void): void;
}

/** How a cancel went: certainly delivered, certainly not sent, or nobody knows. */
export type Delivery = "delivered" | "unsent" | "unknown";

/** A cancel on its way. */
export interface Cancel {
  readonly delivery: Promise<Delivery>;
  /** Gives it up. */
  destroy(): void;
}

/** Asks the server to stop what `session` does at present. */
export function sendCancel({ client, inner }: Session): Cancel {
  const { sslNegotiation } = client as unknown as { sslNegotiation?: string };
  const line = lineTo(client, sslNegotiation);
  let delivery: Delivery = "unsent";
  const send = (): void => {
    delivery = "delivered";
    line.cancel(inner.processID, inner.secretKey);
  };
  line.on("connect", () => {
    if (!client.ssl) send();
    else if (sslNegotiation !== "direct") line.requestSsl();
  });
  line.on("sslconnect", send);
  line.on("error", () => {
    if (delivery === "delivered") delivery = "unknown";
    line.stream.destroy();
  });
  const ended = new Promise<Delivery>((done) => line.on("end", () => done(delivery)));
  connect(line, client);
  return { delivery: ended, destroy: () => line.stream.destroy() };
}

function lineTo(client: PoolClient, sslNegotiation: string | undefined): Line {
  const { ssl, host } = client as { ssl: unknown; host: string };
  // The address is used to connect, the name to check the certificate.
  const named = isIP(host) === 0 ? { servername: host, host } : { host };
  const secure = ssl ? { ...named, ...(ssl === true ? {} : (ssl as object)) } : false;
  return new pg.Connection({
    ssl: secure,
    sslnegotiation: sslNegotiation,
    sslNegotiation,
  } as object) as unknown as Line;
}

function connect(line: Line, { host, port, connection }: PoolClient): void {
  if (host.startsWith("/")) return line.connect(`${host}/.s.PGSQL.${port}`);
  const { remoteAddress, remotePort } = connection.stream as Socket;
  line.connect(remotePort ?? port, remoteAddress ?? host);
}
