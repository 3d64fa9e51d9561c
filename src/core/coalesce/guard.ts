/**
 * Coalescing, or single flight: calls that ask the same at the same time share one.
 *
 * The shared call, the *flight*, is nobody's: it is a call of its own, driven by the layers within, and ends when it is
 * answered or when nobody waits for it any more. Whoever waits keeps their own deadline and may leave at any time; a
 * flight that runs out of its first caller's time is begun anew for those who have more. Only for what is idempotent,
 * and only for calls that state a `key`; a key belongs to its tenant. What a flight gives is shared as it is: treat it
 * as read-only.
 */
import type { Plan } from "../admission.ts";
import { after, type Call, type Exit, type Failed, type Rejected, rejected } from "../call.ts";
import { type Fiber, GeneratedCall, type Next, type Sequence, type Step, type Steps } from "../driver.ts";
import { OptionError } from "../errors.ts";
import { callEvent } from "../events.ts";
import type { Answer, CallProcess } from "../progress.ts";
import { MAX_TIMER_MS, Timer } from "../runtime.ts";
import type { Binding, Guard } from "../stack.ts";
import { plain, TimedOut } from "../timed-out.ts";
import { type CoalesceOptions, CoalescePolicy } from "./machine.ts";

const CROWDED: Rejected = rejected("coalesce", "too many wait");

/** Shares calls. */
export class CoalesceGuard implements Sequence {
  readonly name = "coalesce";
  readonly policy: CoalescePolicy;
  private readonly flights: Map<string, Flight> = new Map();

  constructor(options: CoalesceOptions, at: Binding, field = "coalesce") {
    this.policy = new CoalescePolicy(options, field);
    if (!at.idempotent) throw new OptionError(field, options, "nothing unless the operation is idempotent");
  }

  /** Flights under way. */
  get inFlight(): number {
    return this.flights.size;
  }

  *run(plan: Plan, next: Next, fiber: Fiber): Steps {
    const { call } = plan;
    const { runtime } = fiber.root;
    if (call.key === "") return yield* next(plan, fiber);
    const key = `${call.tenant.length}:${call.tenant}${call.key}`;
    for (let earlier: Exit | null = null; ; ) {
      const shared = this.shared(key, call, next, fiber);
      const exit: Exit =
        shared instanceof Flight
          ? ((yield new Seat(shared, call, fiber)) as Exit)
          : (shared ?? (yield* next(plan, fiber)));
      const all = withEarlier(earlier, exit);
      const again = shared instanceof Flight && ranOutOfTime(exit) && shared.call.deadline < call.deadline;
      if (!again || call.deadline <= runtime.now()) return all;
      earlier = all;
    }
  }

  /** What the call shares with others: a failure, a flight or a refusal; null where it is made by itself. */
  private shared(key: string, call: Call, next: Next, fiber: Fiber): Failed | Flight | Rejected | null {
    const failure = this.policy.remembered(key, fiber.root.runtime.now());
    if (failure !== null) return failure;
    const flight = this.flights.get(key) ?? this.begin(key, call, next, fiber);
    return flight !== null && flight.waiting.size >= this.policy.maxWaiting ? CROWDED : flight;
  }

  private begin(key: string, { spec, fields, deadline }: Call, next: Next, fiber: Fiber): Flight | null {
    // A caller who was given up on the way here, by a backoff of the user's, will not wait for it.
    if (fiber.exit !== null || this.flights.size >= this.policy.maxFlights) return null;
    const { runtime, work } = fiber.root;
    const flight: Flight = new Flight((exit) => {
      // One that was given up hears of its end after another may have begun.
      if (this.flights.get(key) === flight) this.flights.delete(key);
      if (exit.kind === "failed" && !ranOutOfTime(exit)) this.policy.remember(key, exit, runtime.now());
    });
    flight.call = new FlightCall(runtime, spec, fields, deadline, work, flight, next, null);
    this.flights.set(key, flight);
    flight.call.start(true, runtime.now());
    return flight;
  }
}

/** Whether it was the call's time that was over, not the dependency's answer. */
function ranOutOfTime(exit: Exit): boolean {
  if (exit.kind === "failed") return exit.ended === "clipped";
  return exit.kind === "rejected" && exit.by === "deadline";
}

/** How a call ended that has waited for more than one flight: what an earlier one may have done, it may have done. */
function withEarlier(earlier: Exit | null, exit: Exit): Exit {
  if (earlier?.kind !== "failed" || exit.kind !== "rejected") return after(earlier, exit);
  return { ...plain(earlier), stoppedBy: exit };
}

/** A call that is made for all who wait for it. Its answer is no caller's, so it is not told as one. */
class FlightCall extends GeneratedCall {
  protected override tellAnswered(): void {}
}

/** One flight, and who waits for it. */
class Flight implements Answer {
  call!: GeneratedCall;
  readonly waiting: Set<Seat> = new Set();
  private readonly over: (exit: Exit) => void;

  constructor(over: (exit: Exit) => void) {
    this.over = over;
  }

  answered(exit: Exit, _call: CallProcess): void {
    this.over(exit);
    for (const seat of this.waiting) seat.landed(exit);
    this.waiting.clear();
  }

  /** One waits no more; a flight for nobody is given up. */
  leave(seat: Seat, reason: unknown): void {
    if (!this.waiting.delete(seat) || this.waiting.size > 0) return;
    this.over({ kind: "cancelled", reason });
    this.call.cancel(reason);
  }
}

/** A caller's wait for a flight, until its own deadline. */
class Seat extends Timer implements Step {
  private readonly flight: Flight;
  private readonly call: Call;
  private readonly fiber: Fiber;
  private since = 0;

  constructor(flight: Flight, call: Call, fiber: Fiber) {
    super();
    this.flight = flight;
    this.call = call;
    this.fiber = fiber;
  }

  begin(): void {
    const { runtime } = this.fiber.root;
    this.since = runtime.now();
    this.flight.waiting.add(this);
    if (this.call.deadline - this.since <= MAX_TIMER_MS) runtime.arm(this, this.call.deadline);
    if (runtime.sink === null) return;
    const body = { type: "call.joined", flight: this.flight.call.id } as const;
    runtime.emit(callEvent(this.call, this.since, body));
  }

  cancel(reason: unknown): void {
    this.fiber.root.runtime.cancel(this);
    this.flight.leave(this, reason);
  }

  override fire(): void {
    const late = new TimedOut(this.call, this.call.deadline - this.since, true);
    this.flight.leave(this, late.error);
    this.fiber.resume(late);
  }

  /** The flight has been answered. */
  landed(exit: Exit): void {
    this.fiber.root.runtime.cancel(this);
    this.fiber.resume(exit);
  }
}

/** Coalescing as a layer of a stack. */
export function coalesce(options: CoalesceOptions = {}, field = "coalesce"): Guard {
  return { name: "coalesce", bind: (at) => new CoalesceGuard(options, at, field) };
}
