/**
 * The way to the server: an attempt begins only while its client is connected, and waits for that here.
 *
 * The wait is bounded in number and in time, and by the attempt's own time less a millisecond, so that an attempt that
 * found no connection says so (nothing was sent: a write may be repeated) instead of running into its timeout (nobody
 * knows). Whoever has gone is taken out: nothing is sent for them later. Sources: redis/ioredis#61, #76, #285, #702.
 */
import type { Attempt } from "../../core/attempt.ts";
import { AdmissionQueue, type Entry } from "../../core/queue/machine.ts";
import { MAX_TIMER_MS, type Runtime, Timer } from "../../core/runtime.ts";
import { CLIPPED, CLOSED, QUEUE_FULL, refused, UNSENT, UNSENT_FOR_GOOD, WAITED_TOO_LONG } from "./failure.ts";
import type { OfflineOptions, RedisClient } from "./options.ts";

/** Before the end of an attempt's time by so much, in ms, nothing is sent any more. */
export const MARGIN_MS = 1;

/** A client, and who waits for it to be connected. */
export class Door<C extends RedisClient> {
  readonly client: C;
  /** Connections lost so far: who began before a loss has lost their connection. */
  losses = 0;
  private readonly runtime: Runtime;
  private readonly queue: AdmissionQueue<Waiter>;

  constructor(client: C, offline: Required<OfflineOptions>, runtime: Runtime) {
    this.client = client;
    this.runtime = runtime;
    this.queue = new AdmissionQueue(offline, "guardedRedis.offline");
    client.on("close", () => void this.losses++);
    client.on("ready", () => this.letIn());
    client.on("end", () => this.turnAway());
  }

  /** Whether what is sent now goes out at once. */
  get open(): boolean {
    const { status, stream } = this.client;
    return status === "ready" && stream.writable;
  }

  /** How many wait. */
  get waiting(): number {
    return this.queue.size;
  }

  /** Null to come in at once. Otherwise it resolves when the client is connected, or says why that was not waited for. */
  enter(attempt: Attempt): Promise<void> | null {
    const { client } = this;
    if (this.open && this.queue.size === 0) return null;
    if (client.status === "wait") client.connect().catch(() => {}); // lazyConnect: this is the first use
    return new Promise((resolve, reject) => {
      if (client.status === "end") return reject(refused(attempt, CLOSED, UNSENT_FOR_GOOD));
      const now = this.runtime.now();
      const waiter = new Waiter(this, attempt, resolve, reject);
      if (!this.queue.join(waiter, now)) return reject(refused(attempt, QUEUE_FULL, UNSENT));
      const limitMs = Math.min(this.queue.maxWaitMs, attempt.deadline - now - MARGIN_MS);
      if (limitMs <= MAX_TIMER_MS) this.runtime.arm(waiter, now + Math.max(0, limitMs));
      attempt.onAbort((reason) => this.leave(waiter, reason));
    });
  }

  /** Its wait is over, or its caller has gone. */
  leave(waiter: Waiter, reason: unknown): void {
    if (waiter.over) return;
    this.queue.remove(waiter);
    this.runtime.cancel(waiter);
    waiter.end(reason);
  }

  private letIn(): void {
    while (this.open) {
      const next = this.queue.shift();
      if (next === null) return;
      this.runtime.cancel(next);
      next.end(null);
    }
  }

  private turnAway(): void {
    for (let next = this.queue.first; next !== null; next = this.queue.first)
      this.leave(next, refused(next.attempt, CLOSED, UNSENT_FOR_GOOD));
  }
}

/** An attempt that waits. It is its own timer. */
class Waiter extends Timer implements Entry<Waiter> {
  ahead: Waiter | null = null;
  behind: Waiter | null = null;
  waitingSince = 0;
  over = false;
  readonly attempt: Attempt;
  private readonly door: Door<RedisClient>;
  private readonly resolve: () => void;
  private readonly reject: (error: unknown) => void;

  constructor(
    door: Door<RedisClient>,
    attempt: Attempt,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    super();
    this.door = door;
    this.attempt = attempt;
    this.resolve = resolve;
    this.reject = reject;
  }

  override fire(): void {
    const { attempt, door } = this;
    const late = attempt.call.deadline - attempt.runtime.now() <= MARGIN_MS;
    door.leave(this, refused(attempt, WAITED_TOO_LONG, late ? CLIPPED : UNSENT));
  }

  /** Null lets it in. */
  end(reason: unknown): void {
    this.over = true;
    if (reason === null) return this.resolve();
    // At once: the attempt's own timeout is due in the next ms, and a promise may be later than that.
    this.attempt.fail(reason);
    this.reject(reason);
  }
}
