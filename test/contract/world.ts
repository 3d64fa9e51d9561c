// Runs a program: starts its calls, does its works and its callbacks' deeds, and lets the checker look.
import {
  type Admission,
  type Attempt,
  EVENTS_VERSION,
  type Exit,
  type PlimsollEvent,
  type Runtime,
  SeededRandom,
  type Stack,
} from "../../src/core/index.ts";
import { type Hooks, type OURS, Parts } from "./build.ts";
import { Checker } from "./checker.ts";
import type { Deed, Program, Site, WorkSpec } from "./program.ts";
import { CallRun, type Fields, FlightRun, type Sender, type WorkRun } from "./records.ts";
import { Works } from "./works.ts";

/** Thrown on purpose by a callback. Whatever else reaches `uncaught` is a fault of the kernel. */
export class Planned extends Error {}

/** Where the outside world's doings wait: promises, sockets and callers, none of them timers of the kernel's. */
export interface Agenda {
  at(delayMs: number, does: () => void): void;
}

/** A program in progress. */
export class World {
  readonly program: Program;
  readonly runtime: Runtime;
  readonly agenda: Agenda;
  readonly parts: Parts;
  readonly works: Works = new Works(this);
  readonly calls: readonly CallRun[];
  readonly flights: FlightRun[] = [];
  readonly checker: Checker;
  readonly log: string[] = [`events ${EVENTS_VERSION}`];
  /** Works that have not ended. */
  readonly live: Set<WorkRun> = new Set();
  readonly workOf: WeakMap<Admission, WorkRun> = new WeakMap();
  /** The works that gave a value. */
  readonly byMark: Map<unknown, WorkRun> = new Map();
  readonly random: SeededRandom;
  readonly #byId: Map<number, CallRun | FlightRun> = new Map();
  /** The call that is just being made, and takes the next number. */
  #starting: CallRun | null = null;

  constructor(
    program: Program,
    runtime: Runtime,
    agenda: Agenda,
    how: { generators: boolean; exact: boolean },
  ) {
    this.program = program;
    this.runtime = runtime;
    this.agenda = agenda;
    this.random = new SeededRandom(program.seed).fork("world");
    this.calls = program.calls.map((spec, index) => new CallRun(index, spec));
    this.parts = new Parts(program, runtime, this.#hooks(), how.generators);
    this.checker = new Checker(this, how.exact);
    const numbers = runtime.nextCallId.bind(runtime);
    runtime.nextCallId = () => this.#numbered(numbers());
    runtime.sink = (event) => this.#hear(event);
  }

  #hooks(): Hooks {
    return {
      judge: this.works.judge,
      substitute: (spec, attempt) => this.works.perform(attempt, spec.work, spec),
      backoff: ({ backoffDeeds }, which) => {
        for (const { nth, deed } of backoffDeeds) if (which === nth) this.do(deed, null, null);
      },
      hears: (spec, stack) => ({
        report: (law, message) => this.checker.fail(law, message),
        took: (admission, now) => this.checker.tell((law) => law.took(spec, stack, admission, now)),
        refused: (asking, refusal, now) =>
          this.checker.tell((law) => law.refused(spec, stack, asking, refusal, now)),
      }),
    };
  }

  #numbered(id: number): number {
    if (this.#starting !== null) this.#byId.set(id, this.#starting);
    this.#starting = null;
    return id;
  }

  /** The call or the flight with this number, if it has been heard of. */
  known(id: number): CallRun | FlightRun | undefined {
    return this.#byId.get(id);
  }

  /** The same; one that has not been heard of is a flight. */
  sender(id: number, founder: CallRun): Sender {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const flight = new FlightRun(id, founder);
    this.flights.push(flight);
    this.#byId.set(id, flight);
    return flight;
  }

  /** Puts everything that happens by itself on the agenda. */
  begin(): void {
    for (const call of this.calls) {
      const { at, nested } = call.spec;
      if (at === null) continue;
      this.agenda.at(at, () => {
        if (nested) this.runtime.loop.deliver(() => this.start(call.index), undefined);
        else this.start(call.index);
      });
    }
    for (const act of this.program.acts) this.agenda.at(act.at, () => this.#act(act));
  }

  /** Starts a call, in the course of `within` if that goes on: as the promise shell does it. */
  start(index: number, within: WorkRun | null = null): void {
    const call = this.calls[index];
    if (call === undefined || call.started) return;
    const { spec } = call;
    const now = this.runtime.now();
    call.started = true;
    call.startedAt = now;
    if (spec.withinMs !== null) call.deadline = now + spec.withinMs;
    if (within !== null) call.deadline = Math.min(call.deadline, within.attempt.deadline);
    const fields: Fields = {
      criticality: "critical",
      tenant: spec.tenant,
      key: spec.key,
      idempotencyKey: spec.keyed ? "k" : undefined,
      bytes: spec.bytes,
      run: call,
    };
    const work = (attempt: Attempt): typeof OURS => {
      const { works } = this.sender(attempt.call.id, call);
      return this.works.perform(
        attempt,
        spec.works[Math.min(works.length, spec.works.length - 1)] as WorkSpec,
        null,
      );
    };
    const answer = { answered: (exit: Exit) => this.#answered(call, exit) };
    call.outer = within?.alive === true ? within : null;
    this.#starting = call;
    const stack = this.parts.stacks[spec.stack] as Stack;
    call.process = stack.startAt(now, work, fields, call.deadline, answer, call.outer?.attempt ?? null);
    if (call.cancelPending) this.cancel(call);
    if (spec.cancelAfterMs !== null) this.agenda.at(spec.cancelAfterMs, () => this.cancel(call));
  }

  /** Cancels, and looks at once whether that was heard (law 1). */
  cancel(call: CallRun): void {
    if (!call.started) return;
    const { process } = call;
    if (process === null) {
      call.cancelPending = true;
      return;
    }
    const before = process.exit;
    const reason = { cancelled: call.index };
    if (before === null) call.cancelled = { reason };
    process.cancel(reason);
    const { exit } = process;
    if (before !== null) {
      if (exit !== before) this.checker.fail("1", `${call.name} had ended, and a cancel changed that`);
    } else if (exit?.kind !== "cancelled" || exit.reason !== reason)
      this.checker.fail("1", `${call.name} was cancelled and is not`);
    else if (!this.runtime.loop.running && call.answers.length !== 1)
      this.checker.fail("1", `${call.name} was cancelled and got no answer at once`);
  }

  #answered(call: CallRun, exit: Exit): void {
    call.answers.push(exit);
    this.checker.answered(call, exit);
    this.site(call, "answer", null);
  }

  #hear(event: PlimsollEvent): void {
    this.log.push(JSON.stringify(event));
    if (event.type === "breaker.changed") this.checker.tell((law) => law.changed(event));
    if (event.call === 0) return;
    const sender = this.#byId.get(event.call) as CallRun | FlightRun;
    if (event.type === "call.joined") {
      const flight = this.sender(event.flight, sender.founder) as FlightRun;
      flight.joined.add(sender.founder);
      sender.founder.flights.push(flight);
    }
    this.checker.event(sender, event);
    this.site(sender.founder, event.type as Site, null);
  }

  /** A callback of this call runs: does what the program wants done there. */
  site(call: CallRun, site: Site, run: WorkRun | null): void {
    const { deeds } = call.spec;
    if (deeds.length === 0) return;
    const count = call.siteCounts.get(site) ?? 0;
    call.siteCounts.set(site, count + 1);
    for (const { site: where, nth, deed } of deeds) {
      if (where === site && nth === count) this.do(deed, call, run);
    }
  }

  do(deed: Deed, own: CallRun | null, run: WorkRun | null): void {
    if (deed.do === "throw") throw new Planned("on purpose");
    if (deed.do === "resize") return this.#resize(deed.bulkhead, deed.limit);
    if (deed.do === "start") return this.start(deed.call, deed.within ? run : null);
    const targets = deed.call >= 0 ? [this.calls[deed.call] as CallRun] : own !== null ? [own] : this.calls;
    for (const call of targets) {
      if (deed.do === "cancel") this.cancel(call);
      else
        for (const work of [...this.live]) {
          if (work.call !== call) continue;
          if (deed.do === "end") this.works.endAndClose(work);
          else this.works.sayBegun(work, null);
        }
    }
  }

  /** One that learns takes no other limit. */
  #resize(index: number, limit: number): void {
    if (typeof this.program.bulkheads[index]?.limit === "number") this.parts.bulkheads[index]?.resize(limit);
  }

  #act(act: Program["acts"][number]): void {
    if ("resize" in act) this.#resize(act.resize, act.limit);
    else {
      const machine = this.parts.breakers[act.breaker];
      if (machine !== undefined) machine.mode = act.mode;
    }
  }
}
