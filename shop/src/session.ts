/**
 * What both commands do around their runs: a PostgreSQL for all of them, progress on stderr, and an end that leaves
 * nothing behind, by Ctrl-C as well. Errors that the user can do something about are told in a sentence.
 */

import { ArgumentError } from "./arguments.ts";
import { type PostgresServer, startPostgres } from "./database/server.ts";

/** Runs a command: from its arguments to its exit code. */
export async function command(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interrupted = new AbortController();
  // Again and again: whoever presses Ctrl-C twice must not be left with half of it.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => interrupted.abort(new Error("interrupted")));
  }
  // The script that started this one has gone, without a word.
  process.on("disconnect", () => interrupted.abort(new Error("interrupted")));
  try {
    await work(interrupted.signal);
  } catch (error) {
    if (interrupted.signal.aborted) {
      console.error("\nstopped; nothing is left running");
      process.exitCode = 130;
    } else {
      console.error(`plimsoll: ${(error as Error).message}`);
      process.exitCode = error instanceof ArgumentError ? 2 : 1;
    }
  }
  // A pipe takes 64 kB at a time: what was printed has to be out before the end.
  await Promise.all([process.stdout, process.stderr].map(flushed));
  // A timer of a run that was given up must not keep this process.
  process.exit();
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => stream.write("", () => done()));
}

/** Does `work` with a PostgreSQL: the one at `url`, or one that is started for it and ended after it. */
export async function withPostgres<T>(
  url: string | undefined,
  signal: AbortSignal,
  work: (postgres: PostgresServer) => Promise<T>,
): Promise<T> {
  tell(url === undefined ? "starting PostgreSQL" : "looking for PostgreSQL");
  const postgres = await startPostgres({ url });
  try {
    signal.throwIfAborted();
    return await work(postgres);
  } finally {
    await postgres.stop();
    tell("");
  }
}

/** Progress: one line that is written over on a terminal, a line a time elsewhere. */
export function tell(words: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${words}`);
  else if (words !== "") process.stderr.write(`${words}\n`);
}
