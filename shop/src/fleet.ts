/**
 * The processes of one run and the database below them: started from the bottom up, each told where those below it
 * listen; killed and started again where they were; and all gone at the end, however that comes.
 */
import { Child } from "./child.ts";
import type { PostgresServer } from "./database/server.ts";
import type { Tables } from "./database/tables.ts";
import { type Killable, type Plan, parametersFor } from "./plan.ts";
import type { Orders, Report } from "./process.ts";
import type { Counts } from "./seconds.ts";

/** What a process reported, with its name. */
export interface Named {
  readonly name: string;
  readonly report: Report;
}

/** What the fleet stands on. */
export interface Ground {
  readonly plan: Plan;
  readonly postgres: PostgresServer;
  readonly tables: Tables;
  /** The first of the ports that the services listen on; 0 for free ones. */
  readonly port: number;
}

/** The processes of one run. */
export class Fleet {
  readonly #ground: Ground;
  readonly #ports: Record<string, number[]> = {};
  /** Those that run, by name, in the order in which they were started. */
  readonly #children: Map<string, Child> = new Map();
  /** What is left of those that were killed. */
  readonly #told: [number, Counts][] = [];
  readonly #died = rejectable();
  #zeroAtMs = 0;
  #next = 0;
  #stopped = false;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** Starts the services. Nothing is offered to them yet. */
  async start(): Promise<void> {
    const { plan, port } = this.#ground;
    this.#next = port;
    await this.#serve("prices");
    await this.#serve("stock");
    const count = parametersFor(plan)["shop-api.instances"];
    const names = Array.from({ length: count }, (_, index) =>
      count === 1 ? "shop-api" : `shop-api ${index + 1}`,
    );
    for (const name of names) await this.#serve("shop-api", name);
  }

  /** What a piece of stock's work takes on average over so many, ms. */
  measure(pieces: number): Promise<number> {
    return (this.#children.get("stock") as Child).measure(pieces);
  }

  /** Starts the apps, which warm everything up. */
  async warmUp(): Promise<void> {
    await this.#spawn("app").prepare(this.#orders(undefined));
  }

  /** Everybody counts from now on; seconds are after `zeroAtMs`. */
  begin(zeroAtMs: number): void {
    this.#zeroAtMs = zeroAtMs;
    for (const child of this.#children.values()) child.begin(zeroAtMs);
  }

  /** Rejects as soon as a process ends that nobody has killed. */
  get died(): Promise<never> {
    return this.#died.promise;
  }

  /** Ends one without a word, as a machine does that is gone. */
  async kill(what: Killable): Promise<void> {
    if (what === "postgres") return this.#ground.postgres.kill();
    const child = this.#children.get(what) as Child;
    this.#children.delete(what);
    this.#told.push(...child.told);
    await child.stop();
  }

  /** Starts again what was killed, where it was. The others are left as they are. */
  async startAgain(what: Killable): Promise<void> {
    if (what === "postgres") return this.#ground.postgres.restart();
    const child = this.#spawn(what);
    await child.prepare(this.#orders(this.#ports[what]?.[0]));
    child.begin(this.#zeroAtMs);
  }

  /** The apps end first: they wait for the last answers. */
  async end(): Promise<Named[]> {
    const named: Named[] = [];
    for (const [name, child] of [...this.#children].reverse())
      named.push({ name, report: await child.end() });
    if (this.#told.length > 0) {
      named.push({ name: "killed", report: { seconds: this.#told, vitals: [], steps: [] } });
    }
    return named;
  }

  /** The numbers of all processes that run, by name. */
  get pids(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#children].map(([name, { pid }]) => [name, pid]));
  }

  /** Kills all, and waits until they are gone. Nothing is started any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#children.values()].map((child) => child.stop()));
  }

  async #serve(role: string, name: string = role): Promise<void> {
    const port = this.#next === 0 ? undefined : this.#next++;
    const ready = await this.#spawn(role, name).prepare(this.#orders(port));
    this.#ports[role] = [...(this.#ports[role] ?? []), ready.port ?? 0];
  }

  #spawn(role: string, name: string = role): Child {
    if (this.#stopped) throw new Error("stopped");
    const child = new Child(role, name);
    child.onDeath(this.#died.reject);
    this.#children.set(name, child);
    return child;
  }

  #orders(port: number | undefined): Orders {
    const { plan, tables } = this.#ground;
    return { plan, ports: this.#ports, port, database: tables.connection };
  }
}

/** A promise that can only be rejected, and that nobody has to wait for. */
function rejectable(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<never>((_, rejected) => {
    reject = rejected;
  });
  promise.catch(() => {});
  return { promise, reject };
}
