/**
 * One process of the shop and the one that started it: a few messages, and no orphan. A child whose parent has gone
 * ends itself.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Plan } from "./plan.ts";
import type { Counts } from "./seconds.ts";

/** What a child is told first. */
export interface Orders {
  readonly plan: Plan;
  /** Where the services below it listen, by name. */
  readonly ports: Readonly<Record<string, number>>;
}

/** What a child says when it is ready. */
export interface Ready {
  readonly port?: number;
  /** What a piece of stock's work really takes, measured. */
  readonly meanWorkMs?: number;
}

/** What a child says at the end. */
export interface Report {
  readonly seconds: [number, Counts][];
  /** Latencies of successes in ms, by second of arrival. Only the app has them. */
  readonly latencies?: [number, number[]][];
  /** How late the load generator was, in ms. */
  readonly lagMs?: { readonly p50: number; readonly p99: number; readonly max: number };
}

/** What a child has to offer. */
export interface Role {
  /** Makes ready; may listen and measure. */
  prepare(orders: Orders): Promise<Ready>;
  /** Works from now on; seconds count from `zeroAtMs` of the wall clock. */
  begin(zeroAtMs: number): void;
  /** Ends and reports. */
  end(): Promise<Report>;
}

/** Makes this process a child with that role. */
export function play(role: Role): void {
  process.on("disconnect", () => process.exit(0));
  process.on("message", (message: { orders?: Orders; zeroAtMs?: number; end?: true }) => {
    if (message.orders !== undefined) answer(role.prepare(message.orders));
    else if (message.zeroAtMs !== undefined) role.begin(message.zeroAtMs);
    else answer(role.end());
  });
}

function answer(result: Promise<unknown>): void {
  result.then(
    (value) => process.send?.({ value }),
    (error) => process.send?.({ error: String(error?.stack ?? error) }),
  );
}

/** A child, seen from the process that started it. */
export class Child {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #gone: Promise<never>;

  constructor(name: string) {
    this.name = name;
    this.#child = fork(fileURLToPath(new URL(`../dist/services/${name}.js`, import.meta.url)), {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
      // Fewer and shorter pauses: a pause of the load generator is a lie about the service.
      execArgv: ["--max-semi-space-size=32"],
    });
    this.#gone = new Promise((_, reject) => {
      this.#child.on("error", reject);
      this.#child.on("exit", (code, signal) =>
        reject(new Error(`${name} ended by itself (${signal ?? code})`)),
      );
    });
    this.#gone.catch(() => {});
  }

  prepare(orders: Orders): Promise<Ready> {
    return this.#ask({ orders });
  }

  begin(zeroAtMs: number): void {
    this.#child.send({ zeroAtMs });
  }

  end(): Promise<Report> {
    return this.#ask({ end: true });
  }

  /** Ends the process. */
  stop(): void {
    this.#child.kill("SIGKILL");
  }

  #ask<T>(message: object): Promise<T> {
    const reply = new Promise<T>((resolve, reject) => {
      this.#child.once("message", ({ value, error }: { value?: T; error?: string }) => {
        if (error === undefined) resolve(value as T);
        else reject(new Error(`${this.name}: ${error}`));
      });
    });
    this.#child.send(message);
    return Promise.race([reply, this.#gone]);
  }
}
