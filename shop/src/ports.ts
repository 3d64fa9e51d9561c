/**
 * Where services listen: below 32768, where no connection that is going out takes its own end. A service that was
 * killed comes back on the same port; from the range of outgoing connections, one of the thousands that are made to
 * it in the meantime might hold it, or even have been connected to itself.
 */
import type { Server } from "node:http";

const LOWEST = 20_000;
const HIGHEST = 32_767;
/** Attempts at a free port. With as many as one port in three taken, all fail once in 10^9. */
const TRIES = 20;

/** The first port of those that may be asked for. */
export const LOWEST_ASKED = 1_024;
/** The last one. */
export const HIGHEST_ASKED: number = HIGHEST;

/** A port that was asked for and is taken. */
export class BusyPortError extends Error {
  override readonly name = "BusyPortError";

  constructor(port: number) {
    super(`port ${port} of 127.0.0.1 is in use: choose another with --port, or leave it out for free ones`);
  }
}

/** Makes a server listen on `port` of the loopback, or on a free one; resolves with it. */
export async function listenOn(port: number | undefined, server: Server): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const tried = port ?? LOWEST + Math.floor(Math.random() * (HIGHEST + 1 - LOWEST));
    try {
      await listen(server, tried);
      return tried;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      if (port !== undefined) throw new BusyPortError(port);
      if (attempt === TRIES) throw error;
    }
  }
}

/** A burst of connections waits in the backlog; a short one would drop them, and the kernel try again in 1 s. */
const BACKLOG = 4_096;

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
