/**
 * One attempt's use of the client it shares with all others.
 *
 * The work gets a view of the client whose every command passes `send`, be it alone, in a pipeline, of a script or of a
 * scan. There a command is refused once its attempt is over or its connection is another one (a WATCH, a MULTI or the
 * reply of an earlier command belongs to the old one); what is sent holds the attempt, and with it its place, until its
 * reply has come or its connection is gone: Redis answers in order, and nothing that was written can be taken back.
 *
 * An error says `effect: none` only where no command of the attempt can have been executed, since a retry repeats all.
 */
import { Readable } from "node:stream";
import type { Command } from "ioredis";
import type { Attempt } from "../../core/attempt.ts";
import type { Effect } from "../../core/call.ts";
import { redisMeaning } from "../../core/classifiers/redis.ts";
import { endOf } from "../end-of.ts";
import { type Door, MARGIN_MS } from "./door.ts";
import { isReply, LOST, mark, NO_REPLY, ownError, refused, TOO_LATE } from "./failure.ts";
import { misuseOf } from "./misuse.ts";
import type { RedisClient } from "./options.ts";

/** What a guarded operation runs: your function, with the client. */
export type RedisWork<T, C> = (redis: C, attempt: Attempt) => T | PromiseLike<T>;

/** A pipeline, and what it is going to send, of which ioredis tells nobody. */
interface Pipeline {
  readonly _queue: readonly Command[];
}

/** Methods that give no reply, but what sends commands later. */
const MAKERS = /^(pipeline|multi|[hsz]?scan(Buffer)?Stream)$/;

/** Runs the work with a client, as soon as that is connected. */
export async function lend<T, C extends RedisClient>(
  door: Door<C>,
  attempt: Attempt,
  work: RedisWork<T, C>,
): Promise<T> {
  const wait = door.enter(attempt);
  if (wait !== null) await wait;
  if (attempt.state !== "sent") throw new Error("the attempt was given up while it waited for a connection");
  const lease = new Lease(door, attempt);
  const value = await work(new Proxy(door.client, lease), attempt);
  if (lease.unanswered !== null) throw lease.unanswered;
  return value;
}

class Lease<C extends RedisClient> implements ProxyHandler<C> {
  /** The error of a pipeline that lost its connection: its answer is an array, in which the guards would not see it. */
  unanswered: unknown = null;
  private readonly door: Door<C>;
  private readonly attempt: Attempt;
  private readonly lossesBefore: number;
  /** Commands that were sent, and may have been executed. */
  private executed = 0;
  /** The pipeline that is being written, and why not: half of one would shift the replies of all others. */
  private pipeline: unknown = null;
  private readonly pipelines: Pipeline[] = [];
  private refusal: Error | null = null;

  constructor(door: Door<C>, attempt: Attempt) {
    this.door = door;
    this.attempt = attempt;
    this.lossesBefore = door.losses;
  }

  get(client: C, name: string | symbol, view: C): unknown {
    if (name === "sendCommand") return this.send;
    const value: unknown = Reflect.get(client, name);
    if (typeof value !== "function" || !MAKERS.test(String(name))) return value;
    return (...words: unknown[]): unknown => {
      const made = value.apply(view, words);
      if ("_queue" in made) this.pipelines.push(made);
      else if (made instanceof Readable) this.quiet(made);
      return made;
    };
  }

  /** A scan reads ahead: that an attempt does so no more when it is over is no news to who has stopped reading. */
  private quiet(scan: Readable): void {
    scan.on("error", (error) => {
      if (this.attempt.state === "sent" && scan.listenerCount("error") === 1) throw error; // as if nobody listened
    });
  }

  private readonly send = (command: Command, pipeline?: unknown): unknown => {
    const refusal = this.refusalOf(command, pipeline);
    if (refusal !== null) {
      if (pipeline !== undefined) this.unanswered ??= refusal;
      command.reject?.(refusal); // whose arguments cannot be written has been rejected
      // Of our making: where nobody waits for it, it is no fault of the program.
      command.promise.catch(() => {});
      return command.promise;
    }
    const { attempt, door } = this;
    const release = attempt.hold();
    // What MULTI has queued is executed by EXEC.
    const executes = command.inTransaction ? 0 : 1;
    this.executed += executes;
    const { reject } = command;
    command.reject = (error) => reject(ownError(error));
    try {
      const sent = door.client.sendCommand(command, pipeline as never);
      command.promise.then(release, (error) => {
        this.failed(error, executes, pipeline !== undefined);
        release();
      });
      return sent;
    } catch (error) {
      // It was not written, but others of its pipeline wait for replies: they would get those of the next commands.
      if (pipeline !== undefined) door.client.disconnect(true);
      this.executed -= executes;
      release();
      throw mark(error, { class: "permanent", effect: this.effect, pushback: "never" });
    }
  };

  private get effect(): Effect {
    return this.executed === 0 ? "none" : "unknown";
  }

  private failed(error: unknown, executes: number, piped: boolean): void {
    if (!isReply(error)) {
      mark(error, NO_REPLY);
      if (piped) this.unanswered ??= error;
      return;
    }
    const meaning = redisMeaning(error);
    if (meaning === undefined) return; // a script's own word: nobody knows
    if (meaning.effect === "none") this.executed -= executes;
    mark(error, { ...meaning, effect: this.effect });
    // A script may have written before it failed.
    if (meaning.class === "permanent") this.executed += executes;
  }

  private refusalOf(command: Command, pipeline: unknown): Error | null {
    if (pipeline !== undefined && pipeline === this.pipeline) return this.refusal;
    this.pipeline = pipeline;
    const whole = this.pipelines.find(({ _queue: [first] }) => first === command);
    this.refusal = this.check(whole?._queue ?? [command]);
    return this.refusal;
  }

  private check(commands: readonly Command[]): Error | null {
    const { attempt, door, effect } = this;
    if (attempt.state !== "sent") return new Error("the attempt is over: it sends nothing any more");
    if (door.losses !== this.lossesBefore || !door.open) {
      const ended = effect === "none" ? "unsent" : undefined;
      return refused(attempt, LOST, { class: "transient", effect, ended });
    }
    const leftMs = attempt.timeLeftMs;
    if (leftMs <= MARGIN_MS)
      return refused(attempt, TOO_LATE, { class: "transient", effect, ended: endOf(attempt) });
    const wrong = misuseOf(commands, leftMs);
    return wrong === null ? null : mark(new Error(wrong), { class: "permanent", effect, pushback: "never" });
  }
}
