/** A child process, seen from the one that started it: it can be asked, killed, and never outlives its parent. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Orders, Ready, Report, Request } from "./process.ts";
import type { Counts } from "./seconds.ts";

/** What a child says, asked or not: an answer, or a second that is over. */
interface Message {
  readonly value?: unknown;
  readonly error?: string;
  readonly second?: [number, Counts];
}

/**
 * Where new objects live, in MB. The load generator keeps few of them: with more room it is paused less often, and a
 * pause of it is a lie about the service. A service that calls by `fetch` keeps many (docs/truth.md): with less room
 * its pauses are shorter, and a long one is a burst of calls, which looks to a breaker like a slow callee.
 */
const LOAD_MB = 32;
const SERVICE_MB = 4;

/** A process of the shop. */
export class Child {
  readonly name: string;
  readonly role: string;
  /** Seconds that it has told of: all that is left of one that was killed. */
  readonly told: [number, Counts][] = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #gone: Promise<never>;
  #answer: ((message: Message) => void) | null = null;
  #stopping = false;

  /** Starts a process for `role`; it is called `name`. */
  constructor(role: string, name: string = role) {
    this.name = name;
    this.role = role;
    this.#child = fork(fileURLToPath(new URL(`../dist/services/${role}.js`, import.meta.url)), {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
      execArgv: [`--max-semi-space-size=${role === "app" ? LOAD_MB : SERVICE_MB}`],
    });
    this.#exited = new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.once("error", () => resolve());
    });
    this.#gone = new Promise((_, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", (code, signal) =>
        reject(new Error(`${name} ended by itself (${signal ?? code})`)),
      );
    });
    this.#gone.catch(() => {});
    this.#child.on("message", (message: Message) => this.#heard(message));
  }

  /** Its number. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** See `Role.prepare`. */
  prepare(orders: Orders): Promise<Ready> {
    return this.#ask({ orders });
  }

  /** See `Role.measure`. */
  measure(pieces: number): Promise<number> {
    return this.#ask({ measure: pieces });
  }

  /** See `Role.begin`. */
  begin(zeroAtMs: number): void {
    this.#child.send({ zeroAtMs } satisfies Request);
  }

  /** See `Role.end`. */
  end(): Promise<Report> {
    return this.#ask({ end: true });
  }

  /** Calls `hear` if it ends without having been told to. */
  onDeath(hear: (error: Error) => void): void {
    this.#gone.catch((error: Error) => {
      if (!this.#stopping) hear(error);
    });
  }

  /** Kills it, and waits until it is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child.kill("SIGKILL");
    if (this.#child.pid !== undefined) await this.#exited;
  }

  #heard(message: Message): void {
    if (message.second !== undefined) this.told.push(message.second);
    else this.#answer?.(message);
  }

  #ask<T>(request: Request): Promise<T> {
    const reply = new Promise<T>((resolve, reject) => {
      this.#answer = ({ value, error }) => {
        if (error === undefined) resolve(value as T);
        else reject(new Error(`${this.name}: ${error}`));
      };
    });
    if (this.#child.connected) this.#child.send(request);
    return Promise.race([reply, this.#gone]);
  }
}
