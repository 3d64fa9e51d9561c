/**
 * The pool of pg, and who may use it: as many connections as the bulkhead has places, so that nobody ever waits in the
 * pool's own queue, which has no order, no deadline and no bound.
 */
import pg, { type PoolClient } from "pg";
import type { Bulkhead } from "../../core/bulkhead/guard.ts";
import type { Runtime } from "../../core/runtime.ts";
import { Ceiling } from "./ceiling.ts";
import { CLOSED, connectFailure, mark, sqlStateOf } from "./failure.ts";
import { IdleWatch } from "./idle.ts";
import type { PoolSettings } from "./options.ts";
import { Session } from "./session.ts";

/** What can be seen of a pool. */
export interface PoolStats {
  /** Connections that there are: lent, idle, and being opened or closed. */
  readonly connections: number;
  /** Those of them that nobody uses. */
  readonly idle: number;
  /** Places in use. */
  readonly held: number;
  /** How many places there are at present: fewer than `size` while the server has no room for more. */
  readonly limit: number;
  /** Calls that wait for a place. */
  readonly waiting: number;
  /** Who waits in the queue of pg's own pool: nobody, between two turns of the event loop. */
  readonly waitingInPool: number;
  /** Cancels sent since the start. */
  readonly cancels: number;
  /** Connections that were closed because nobody could be sure of them, since the start. */
  readonly destroyed: number;
}

/** Lends connections to attempts that hold a place. */
export class Places {
  readonly marginMs: number;
  readonly lockTimeoutMs: number;
  readonly cancelTimeoutMs: number;
  /** Whether the pool is closed and its time is over. */
  forced = false;
  readonly countCancel = (): void => void this.cancels++;
  private cancels = 0;
  private destroyed = 0;
  private ended: Promise<void> | null = null;
  private readonly open: Set<Session> = new Set();
  /** Connections given back in this turn of the event loop. */
  private readonly justBack: Session[] = [];
  private readonly sessions: WeakMap<PoolClient, Session> = new WeakMap();
  private readonly pool: pg.Pool;
  private readonly idle: IdleWatch;
  private readonly ceiling: Ceiling;
  private readonly bulkhead: Bulkhead;
  private readonly runtime: Runtime;

  constructor(settings: PoolSettings, bulkhead: Bulkhead, runtime: Runtime) {
    this.marginMs = settings.marginMs;
    this.lockTimeoutMs = settings.lockTimeoutMs;
    this.cancelTimeoutMs = settings.cancelTimeoutMs;
    this.bulkhead = bulkhead;
    this.runtime = runtime;
    this.ceiling = new Ceiling(settings.size);
    this.pool = new pg.Pool({
      ...settings.connection,
      max: settings.size,
      pipeline: true,
      min: settings.size, // its own idle timers are off: see idle.ts
      Client: clientOf(settings.connectTimeoutMs) as NonNullable<pg.PoolConfig["Client"]>,
    });
    this.idle = new IdleWatch(this.pool, runtime, settings.idleTimeoutMs);
    this.pool.on("connect", (client) => this.connected(client));
    // An idle connection has ended. Its session has heard of it; unheard here, it would end the process.
    this.pool.on("error", () => {});
  }

  get stats(): PoolStats {
    const { bulkhead, pool } = this;
    return {
      connections: pool.totalCount,
      idle: pool.idleCount + this.justBack.length,
      held: bulkhead.gate.held,
      limit: bulkhead.gate.limit,
      waiting: bulkhead.waiting,
      waitingInPool: pool.waitingCount,
      cancels: this.cancels,
      destroyed: this.destroyed,
    };
  }

  /** Connections that have come about and not ended. */
  get count(): number {
    return this.open.size;
  }

  /** A connection for an attempt that holds a place. */
  connect(): Promise<Session> {
    if (this.ended !== null) return Promise.reject(this.failed(new Error("the pool is closed")));
    const session = this.justBack.pop();
    if (session?.clean) {
      this.idle.passedOn();
      return Promise.resolve(session);
    }
    if (session !== undefined) this.release(session);
    this.idle.taken();
    return new Promise((resolve, reject) => {
      this.pool.connect((error, client) => {
        if (error !== undefined || client === undefined) reject(this.failed(error));
        else resolve(this.sessions.get(client) as Session);
      });
    });
  }

  /** Takes a connection back; one that is not fit is closed, and has gone when this resolves. */
  giveBack(session: Session, fit: boolean): Promise<void> | undefined {
    session.lease = null;
    if (this.ceiling.low && this.ceiling.rise(this.runtime.now())) this.fitBulkhead();
    if (fit) return this.keep(session);
    this.destroyed++;
    const { stream } = session.client.connection;
    const closed = new Promise<void>((done) => {
      if (stream.closed) done();
      else stream.once("close", done);
    });
    session.destroy();
    session.client.release(true);
    return closed;
  }

  /**
   * Mostly somebody waits for it, and takes it in this very turn of the event loop: the way through the pool, which
   * begins a turn of its own, is kept for what is left.
   */
  private keep(session: Session): undefined {
    if (this.justBack.push(session) > 1) return;
    process.nextTick(() => {
      for (const left of this.justBack.splice(0)) this.release(left);
    });
  }

  /** Gives it to the pool, which closes it if it has ended meanwhile. */
  private release({ client, doubtful }: Session): void {
    client.release(doubtful);
  }

  /**
   * Closes the pool: at once what is idle, the rest when it is given back, and is stopped after `withinMs`. Said again,
   * the sooner of the two times counts.
   */
  end(withinMs: number): Promise<void> {
    this.ended ??= this.endOnce();
    const timer = this.runtime.after(withinMs, () => {
      this.forced = true;
      for (const session of this.open) session.lease?.end();
    });
    const cancel = (): void => this.runtime.cancel(timer);
    this.ended.then(cancel, cancel);
    return this.ended;
  }

  private async endOnce(): Promise<void> {
    this.idle.stop();
    // Who is about to get an idle connection has it by then; pg would leave them without any answer.
    if (this.pool.waitingCount > 0) await new Promise<void>((done) => process.nextTick(done));
    await this.pool.end();
  }

  private connected(client: PoolClient): void {
    const session = new Session(client);
    this.sessions.set(client, session);
    this.open.add(session);
    client.on("end", () => void this.open.delete(session));
    this.idle.start();
    this.ceiling.connected(this.open.size);
    this.fitBulkhead();
  }

  private failed(error: unknown): unknown {
    if (this.ended !== null) return mark(error, CLOSED);
    if (sqlStateOf(error) === "53300") {
      this.ceiling.refused(this.runtime.now(), this.open.size);
      this.fitBulkhead();
    }
    return mark(error, connectFailure(error));
  }

  private fitBulkhead(): void {
    const { limit } = this.ceiling;
    if (this.bulkhead.gate.limit !== limit) this.bulkhead.resize(limit);
  }
}

/**
 * pg's client, which minds the time that connecting takes. Told to the pool, that limit would also hold for a wait in
 * its queue, where nobody waits, and cost each call a timer.
 */
function clientOf(connectTimeoutMs: number): typeof pg.Client {
  return class extends pg.Client {
    constructor(config: pg.ClientConfig) {
      // With all that is hidden in it: the pool makes the password unlisted.
      const limited = Object.defineProperties(
        {},
        Object.getOwnPropertyDescriptors(config),
      ) as pg.ClientConfig;
      super(Object.assign(limited, { connectionTimeoutMillis: connectTimeoutMs }));
    }
  } as typeof pg.Client;
}
