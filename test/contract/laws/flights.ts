// Flights (laws 1, 2, 6): one at a time for a key, one answer for all who wait, and nobody's to give up alone.
import type { Exit, PlimsollEvent } from "../../../src/core/index.ts";
import type { CoalesceSpec } from "../program.ts";
import type { CallRun, FlightRun, Sender } from "../records.ts";
import { Law } from "./law.ts";

/** What an exit gives, to be compared: a value, an error, or the refusal itself. */
function contentOf(exit: Exit): unknown {
  if (exit.kind === "ok") return exit.value;
  return exit.kind === "failed" ? exit.error : exit;
}

export class Flights extends Law {
  override event(sender: Sender, event: PlimsollEvent): void {
    if (event.type !== "call.joined") return;
    const call = sender.founder;
    const flight = call.flights.at(-1) as FlightRun;
    const of = flight.founder.spec;
    if (of.key !== call.spec.key || of.tenant !== call.spec.tenant || of.stack !== call.spec.stack)
      this.fail("1", `${call.name} waits for what another key or tenant asked`);
    if (call.spec.key === "") this.fail("1", `${call.name} has no key, and waits for others`);
    if (flight.landed !== null) this.fail("1", `${call.name} waits for a flight that has landed`);
  }

  override answered(call: CallRun, exit: Exit): void {
    const { coalescesFirst, coalesce } = this.shapeOf(call);
    const flight = call.flights.at(-1);
    if (!coalescesFirst || coalesce === null || exit.kind === "cancelled") return;
    if (exit.kind === "rejected" && exit.by === "coalesce") return;
    if (flight === undefined) return this.#remembered(call, coalesce, exit);
    if (this.#ranOutOfTime(exit)) return this.#early(call, exit);
    if (call.works.length > 0) return;
    const what = contentOf(exit);
    flight.landed ??= { what, at: this.now };
    if (flight.landed.what !== what)
      this.fail("1", `${call.name} has another answer than those it waited with`);
    if (this.scene.exact && flight.landed.at !== this.now)
      this.fail("1", `${call.name} has its answer ${this.now - flight.landed.at} ms after others`);
  }

  #ranOutOfTime(exit: Exit): boolean {
    return exit.kind === "failed"
      ? exit.ended === "clipped"
      : exit.kind === "rejected" && exit.by === "deadline";
  }

  /** Each has a deadline of its own, whoever began the flight. */
  #early(call: CallRun, exit: Exit): void {
    if (exit.kind === "failed" && exit.stoppedBy !== undefined) return; // begun anew, and refused
    const bounded = this.shapeOf(call).spec.guards.some(
      ({ kind }) => kind === "deadline" || kind === "fallback" || kind === "retry",
    );
    const { minUsefulMs } = this.shapeOf(call).spec;
    if (this.scene.exact && !bounded && minUsefulMs === 0 && this.now < call.deadline)
      this.fail("9", `${call.name} was given up ${call.deadline - this.now} ms before its deadline`);
  }

  /** Only a failure, of the same key, and not for longer than that. */
  #remembered(call: CallRun, { shareFailuresMs }: CoalesceSpec, exit: Exit): void {
    if (call.works.length > 0 || exit.kind !== "failed") return;
    const { stack, key, tenant } = call.spec;
    const flight = this.world.flights.find(
      ({ landed, spec }) =>
        landed?.what === exit.error && spec.stack === stack && spec.key === key && spec.tenant === tenant,
    );
    if (flight?.landed == null) {
      // Nobody may have been left to hear how that flight ended: then its work's error must tell.
      const { run } = exit.error as { run?: { sender: Sender } };
      if (run !== undefined && (run.sender.spec.key !== key || run.sender.spec.tenant !== tenant))
        this.fail("1", `${call.name} was answered with another key's failure`);
    } else if (this.scene.exact && this.now >= flight.landed.at + shareFailuresMs)
      this.fail("1", `${call.name} was answered with a failure of ${this.now - flight.landed.at} ms ago`);
  }

  override look(): void {
    for (const flight of this.world.flights) this.#lookAt(flight);
    for (const { stack, spec, machine } of this.world.parts.flights) {
      const flying = this.world.flights.filter(
        (flight) => flight.spec.stack === stack && flight.waiting.length > 0,
      );
      if (machine.inFlight > spec.maxFlights)
        this.fail("6", `${machine.inFlight} flights, of ${spec.maxFlights}`);
      if (this.scene.shapes[stack]?.coalescesFirst !== true) continue;
      if (machine.inFlight !== flying.length)
        this.fail("2", `${machine.inFlight} flights, and ${flying.length} are waited for`);
      const keys = new Set(flying.map(({ spec: { tenant, key } }) => JSON.stringify([tenant, key])));
      if (keys.size < flying.length) this.fail("1", "two flights for one key");
    }
  }

  #lookAt(flight: FlightRun): void {
    const shape = this.scene.shapes[flight.spec.stack];
    const { waiting } = flight;
    const unanswered = [...flight.joined].some((call) => !call.answered);
    for (const { attempt } of flight.all)
      if (attempt.state === "sent" && !unanswered) this.fail("2", `${flight.name} goes on for nobody`);
    if (shape?.coalescesFirst !== true) return;
    if (waiting.length > (shape.coalesce?.maxWaiting ?? 0))
      this.fail("6", `${waiting.length} wait for a flight`);
    if (flight.landed !== null && waiting.length > 0)
      this.fail("1", `${flight.name} has landed, and ${waiting[0]?.name} waits`);
    // One who has left does not take the others along.
    const late = waiting.every((call) => call.deadline <= this.now);
    const given = flight.works.find(({ ending }) => ending === "cancelled");
    if (this.scene.exact && given !== undefined && waiting.length > 0 && !late)
      this.fail("3", `${flight.name} was given up, and ${waiting[0]?.name} waits for it`);
  }

  override end(): void {
    for (const { machine } of this.world.parts.flights)
      if (machine.inFlight !== 0) this.fail("2", `${machine.inFlight} flights at the end`);
  }
}
