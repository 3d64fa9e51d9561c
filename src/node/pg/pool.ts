/**
 * A pool of connections as a dependency: its bulkhead's places are the connections, and every guard is the kernel's.
 */
import type { Attempt } from "../../core/attempt.ts";
import type { CircuitBreaker } from "../../core/breaker/machine.ts";
import type { Bulkhead } from "../../core/bulkhead/guard.ts";
import type { Outcome } from "../../core/call.ts";
import { checkMs, checkNumber, orDefault } from "../../core/options.ts";
import type { OperationOptions } from "../../core/policy-options.ts";
import type { RetryOptions } from "../../core/retry/machine.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { CallOptions } from "../../facade/call-options.ts";
import { type Dependency, dependency, type Operation, type WithFallback } from "../../facade/dependency.ts";
import { adapted } from "../adapted.ts";
import { plugNode } from "../host.ts";
import { nodeRuntime } from "../runtime.ts";
import { lend, type PgWork } from "./lease.ts";
import { type GuardedPoolOptions, settingsOf } from "./options.ts";
import { Places, type PoolStats } from "./places.ts";

/** A guarded operation on a database: call it with your work. `F` is what its fallback gives. */
export interface PgOperation<F = never> {
  /** Runs the work, with a connection of its own, under the operation's guards. Rejects with the work's own error. */
  <T>(work: PgWork<T>, options?: CallOptions): Promise<T | F>;
  /** The same without throwing, and it tells a whole answer from a degraded one. Rejects only if cancelled. */
  outcome<T>(work: PgWork<T>, options?: CallOptions): Promise<Outcome<T | F>>;
  /** Its breaker's state, to look at or to force; null without one. */
  readonly breaker: CircuitBreaker | null;
  /** Attempts that were given up and still run. */
  readonly abandoned: number;
}

/** A database, guarded. */
export interface GuardedPool {
  readonly name: string;
  /** The dependency that it is, for operations that need no connection. Its places are the pool's connections. */
  readonly dependency: Dependency;
  /** The places, and who waits for one. */
  readonly bulkhead: Bulkhead;
  /** The numbers at this moment. */
  readonly stats: PoolStats;
  /** Makes a guarded operation. Throws an `OptionError` that names the field for a wrong option. */
  operation<F = never>(name: string, options: WithFallback<F>): PgOperation<F>;
  operation(name: string, options?: OperationOptions): PgOperation;
  /**
   * Opens connections before they are needed, all that may be by default, and gives how many there are then. Rejects if
   * the database cannot be reached; a server without room for more is no error.
   */
  warmUp(connections?: number): Promise<number>;
  /** Refuses new work and waits for what is in work; after `withinMs` (default 5,000) that is cancelled. */
  end(withinMs?: number): Promise<void>;
}

/**
 * Where nothing is said about retries: only attempts that found no connection are repeated, since nothing was sent and
 * another connection may be free. (SRE book: 3 attempts.)
 */
const UNSENT_ONLY: RetryOptions = { attempts: 3, only: "unsent" };

/** Makes a pool. It opens its first connection when it is first used, or by `warmUp()`. */
export function guardedPool(options: GuardedPoolOptions, runtime: Runtime = nodeRuntime): GuardedPool {
  const settings = settingsOf(options);
  plugNode();
  const { name, queue, budget = { burst: Math.max(10, settings.size) } } = options;
  const bulkhead = { limit: settings.size, ...(queue === undefined ? {} : { queue }) };
  const database = dependency({ name, bulkhead, budget }, runtime);
  return new Pool(database, new Places(settings, database.bulkhead as Bulkhead, runtime), settings.size);
}

class Pool implements GuardedPool {
  readonly dependency: Dependency;
  readonly #places: Places;
  readonly #size: number;
  readonly #open: Operation;

  constructor(database: Dependency, places: Places, size: number) {
    this.#open = database.operation("warm up");
    this.dependency = database;
    this.#places = places;
    this.#size = size;
  }

  get name(): string {
    return this.dependency.name;
  }

  get bulkhead(): Bulkhead {
    return this.dependency.bulkhead as Bulkhead;
  }

  get stats(): PoolStats {
    return this.#places.stats;
  }

  operation<F>(name: string, options: OperationOptions = {}): PgOperation<F> {
    const retry = orDefault(options.retry, UNSENT_ONLY);
    const guarded = this.dependency.operation(name, { ...options, retry }) as Operation<F, true>;
    const around = (work: PgWork<unknown>) => (attempt: Attempt) => lend(this.#places, attempt, work);
    return adapted(guarded, around) as PgOperation<F>;
  }

  async warmUp(connections: number = this.#size): Promise<number> {
    checkNumber("warmUp.connections", connections, { min: 1, max: this.#size, integer: true });
    const { limit, held } = this.bulkhead.gate;
    // Those of present callers are open already, or are being opened; nobody is made to wait for the rest.
    const more = Math.max(0, Math.min(connections, limit) - held);
    const hold = new Latch();
    const opened = Array.from({ length: more }, () => this.#openOne(hold));
    const arrived = await Promise.all(opened.map(({ arrived }) => arrived));
    hold.open();
    await Promise.all(opened.map(({ outcome }) => outcome));
    for (const outcome of arrived) {
      if (outcome?.kind === "failed" && outcome.class !== "throttling") throw outcome.error;
    }
    return this.#places.count;
  }

  end(withinMs = 5_000): Promise<void> {
    return this.#places.end(checkMs("end.withinMs", withinMs));
  }

  /** Opens a connection and keeps it until `hold` opens, so that the next one is another. */
  #openOne(hold: Latch): { arrived: Promise<Outcome | undefined>; outcome: Promise<Outcome> } {
    const there = new Latch();
    const outcome = this.#open.outcome(async () => {
      const session = await this.#places.connect();
      there.open();
      await hold.opened;
      await this.#places.giveBack(session, session.clean);
    });
    return { arrived: Promise.race([there.opened, outcome]), outcome };
  }
}

/** Opens once. */
class Latch {
  open: () => void = () => {};
  readonly opened: Promise<undefined>;

  constructor() {
    this.opened = new Promise((done) => {
      this.open = () => done(undefined);
    });
  }
}
