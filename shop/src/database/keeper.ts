/**
 * Ends the server, and removes its folder, when the process that started it is gone, however that went.
 *
 * A shell waits for the end of its standard input, which comes when the other end is closed: by `letGo`, by an exit
 * without a word, or by SIGKILL. It has a session of its own and ignores signals, so Ctrl-C does not end it first.
 * SIGQUIT is PostgreSQL's immediate shutdown, of which the removal of its pid file is the end; a postmaster that does
 * not heed it is killed, and its children follow.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

const SCRIPT = `
trap '' INT TERM HUP QUIT
cat >/dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ] && kill -QUIT "$pid" 2>/dev/null; then
  tries=0
  while [ -e "$1/data/postmaster.pid" ] && kill -0 "$pid" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -eq 50 ] && kill -KILL "$pid"
    [ $tries -ge 100 ] && break
    sleep 0.1
  done
fi
rm -rf "$1"
`;

/** Watches over one server. */
export class Keeper {
  readonly #shell: ChildProcess;
  readonly #gone: Promise<unknown>;

  /** `folder` is removed at the end; the server's data is in `data` below it. */
  constructor(folder: string) {
    this.#shell = spawn("/bin/sh", ["-c", SCRIPT, "keeper", folder], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#gone = once(this.#shell, "exit");
    this.#shell.unref();
    (this.#shell.stdin as unknown as { unref(): void }).unref();
  }

  /** Ends it all now. */
  async letGo(): Promise<void> {
    this.#shell.ref();
    this.#shell.stdin?.end();
    await this.#gone;
  }
}
