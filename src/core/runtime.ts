/**
 * The world a guard lives in: a monotonic clock, timers, randomness forked by name, one event sink, and the
 * loop that alone runs other people's code. Production and the simulator differ in nothing but this object.
 *
 * Timers are intrusive: whatever waits *is* a `Timer`, so arming one allocates nothing and cancelling one is
 * constant time. A timer never fires before `now()` has reached its due time, and timers due at the same time
 * fire in the order in which they were armed.
 */
import { OptionError } from "./errors.ts";
import type { PlimsollEvent } from "./events.ts";
import { Loop } from "./loop.ts";
import type { Random } from "./random.ts";

/** The longest duration a timer takes, in ms: 2^31 − 1 (Node turns anything above it into 1 ms). */
export const MAX_TIMER_MS = 2_147_483_647;

/** Something that can wait for a point in time. Subclass it, then `runtime.arm(timer, dueAt)`. */
export abstract class Timer {
  /** When it fires, in the runtime's ms. Written by the runtime. */
  dueAt = 0;
  /** Arming order, which breaks ties. Written by the runtime. */
  sequence = 0;
  /** Where the runtime keeps it; −1 while it is not armed. Written by the runtime. */
  position = -1;
  /** Neighbours in the runtime's own lists. */
  earlier: Timer | null = null;
  later: Timer | null = null;

  /** Called by the runtime once `dueAt` has been reached; the timer is no longer armed by then. */
  abstract fire(): void;
}

/** The caller's async context, kept while a call waits so that its work later runs inside it: an `AsyncResource`. */
export interface Context {
  runInAsyncScope<A>(fn: (argument: A) => void, thisArgument: unknown, argument: A): void;
}

/** Hears every event of a runtime, in order. It may throw and may start or cancel calls. */
export type EventSink = (event: PlimsollEvent) => void;

/** Clock, timers, randomness, events and loop. Made once per process, or once per simulated world. */
export abstract class Runtime {
  /** The only place that runs work, sinks and listeners. */
  readonly loop: Loop = new Loop(this);
  /** Hears events, or null while nobody listens: then no event is even built. `listen` sets it for you. */
  sink: EventSink | null = null;
  private calls = 0;
  private listeners: readonly EventSink[] = [];

  /** Randomness, to be forked by name: adding a guard never shifts another guard's draws. */
  abstract readonly random: Random;

  /** Monotonic milliseconds, never a wall clock. */
  abstract now(): number;

  /**
   * Fires `timer` once, when `now()` has reached `dueAt` (at most `MAX_TIMER_MS` ahead) or later, never earlier.
   * Re-arming moves it. The point in time is absolute because whoever arms has just read the clock.
   */
  abstract arm(timer: Timer, dueAt: number): void;

  /** Stops a timer. Stopping one that is not armed does nothing. */
  abstract cancel(timer: Timer): void;

  /** The present async context, or null where there is none to keep. */
  context(): Context | null {
    return null;
  }

  /** Hears what a sink or a listener threw: nothing of ours breaks, and nothing is swallowed. */
  abstract uncaught(error: unknown): void;

  /** Fires `fn` once after `delayMs`. For hot paths subclass `Timer` instead. */
  after(delayMs: number, fn: () => void): Timer {
    const timer = new CallbackTimer(this, fn);
    // Checked here and not in `options.ts`, which itself needs the longest duration from this file.
    if (!(delayMs >= 0 && delayMs <= MAX_TIMER_MS)) {
      throw new OptionError("delayMs", delayMs, `a number from 0 to ${MAX_TIMER_MS}`);
    }
    this.arm(timer, this.now() + delayMs);
    return timer;
  }

  /** Hands an event to the listener at the loop's next safe point. Ask `sink !== null` before building one. */
  emit(event: PlimsollEvent): void {
    this.loop.deliver(this.sink, event);
  }

  /**
   * Lets `listener` hear every event from now on, beside any other. What it throws reaches nobody else. Returns how
   * to stop.
   */
  listen(listener: EventSink): () => void {
    let listens = true;
    // Events that have happened may still be on their way when it stops.
    const entry: EventSink = (event) => {
      if (listens) listener(event);
    };
    this.setListeners([...this.listeners, entry]);
    return () => {
      listens = false;
      this.setListeners(this.listeners.filter((each) => each !== entry));
    };
  }

  private setListeners(listeners: readonly EventSink[]): void {
    this.listeners = listeners;
    const tellAll: EventSink = (event) => {
      for (const listener of listeners) this.loop.deliver(listener, event);
    };
    this.sink = listeners.length === 0 ? null : tellAll;
  }

  /** A number for a new call, from 1, so that a log can tell calls apart. */
  nextCallId(): number {
    return ++this.calls;
  }
}

class CallbackTimer extends Timer {
  private readonly runtime: Runtime;
  private readonly fn: () => void;

  constructor(runtime: Runtime, fn: () => void) {
    super();
    this.runtime = runtime;
    this.fn = fn;
  }

  override fire(): void {
    this.runtime.loop.deliver(this.fn, undefined);
  }
}
