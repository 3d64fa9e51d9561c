// The ten laws, as an observer sees them: from what the works, the answers and the gauges say, step by step. What they
// ask is in `laws/`, by what it is asked of; here all of it is told what happens.
import type { Exit, PlimsollEvent } from "../../src/core/index.ts";
import { Attempts } from "./laws/attempts.ts";
import { Books } from "./laws/books.ts";
import { Breakers } from "./laws/breakers.ts";
import { Calls } from "./laws/calls.ts";
import { Flights } from "./laws/flights.ts";
import type { Law, Scene } from "./laws/law.ts";
import { Places } from "./laws/places.ts";
import { Quotas } from "./laws/quotas.ts";
import { Races } from "./laws/races.ts";
import { Shares } from "./laws/shares.ts";
import { Substitutes } from "./laws/substitutes.ts";
import type { CallRun, Sender, WorkRun } from "./records.ts";
import { Shape } from "./shape.ts";
import type { World } from "./world.ts";

/** A law that was broken. */
export interface Breach {
  readonly law: string;
  readonly message: string;
}

type Answered = PlimsollEvent & { type: "attempt.answered" };

export class Checker {
  readonly breaches: Breach[] = [];
  readonly #scene: Scene;
  readonly #attempts: Attempts;
  readonly #laws: readonly Law[];

  constructor(world: World, exact: boolean) {
    const shapes = world.program.stacks.map((spec) => new Shape(spec));
    const scene: Scene = { world, shapes, exact, fail: (law, message) => this.fail(law, message) };
    this.#scene = scene;
    this.#attempts = new Attempts(scene);
    const others = [Calls, Breakers, Races, Places, Books, Quotas, Shares, Flights, Substitutes];
    this.#laws = [this.#attempts, ...others.map((Of) => new Of(scene))];
  }

  fail(law: string, message: string): void {
    this.breaches.push({ law, message: `${message} (at ${this.#scene.world.runtime.now()} ms)` });
  }

  /** Tells all of them. */
  tell(what: (law: Law) => void): void {
    for (const law of this.#laws) what(law);
  }

  answered(call: CallRun, exit: Exit): void {
    this.tell((law) => law.answered(call, exit));
  }

  event(sender: Sender, event: PlimsollEvent): void {
    this.tell((law) => law.event(sender, event));
    if (event.type === "attempt.answered") this.#attemptAnswered(sender, event);
  }

  #attemptAnswered(sender: Sender, event: Answered): void {
    const run = this.#workOf(sender, event);
    const { ending, durationMs } = event;
    if (run !== undefined) {
      run.heardOfAnswer = true;
      run.ending = ending;
    } else if (!this.#isNobodys(sender, event))
      return this.fail("1", `${sender.name} tells of an attempt that nobody made`);
    if (run?.isFallback === false) {
      if (ending === "ok" || ending === "degraded") sender.good = true;
      return this.tell((law) => law.ends(run, ending, durationMs));
    }
    if (run !== undefined) this.#attempts.honest(run, ending);
    this.tell((law) => law.substituteEnds(sender, ending));
  }

  /** The work whose attempt this was. */
  #workOf(sender: Sender, { attempt: number, kind, at, durationMs }: Answered): WorkRun | undefined {
    return sender.all.find(
      ({ attempt, heardOfAnswer }) =>
        attempt.number === number &&
        attempt.kind === kind &&
        !heardOfAnswer &&
        attempt.state !== "sent" &&
        (!this.#scene.exact || attempt.sentAt === at - durationMs),
    );
  }

  /** A kept answer and a fixed value are nobody's work. */
  #isNobodys(sender: Sender, { kind }: Answered): boolean {
    const fallbacks = this.#scene.shapes[sender.spec.stack]?.fallbacks ?? [];
    return kind === "fallback" && fallbacks.some(({ how }) => how === "stale" || how === "default");
  }

  /** Looks at everything. Called when nothing is half-way: between the steps of the world. */
  look(): void {
    if (!this.#scene.world.runtime.loop.running) this.tell((law) => law.look());
  }

  /** Nothing happens any more by itself. */
  atRest(): void {
    this.tell((law) => law.rest());
  }

  /** Everything has ended: nothing is held, queued, reserved or counted any more, and every breaker can be closed. */
  atEnd(laterMs: number): void {
    this.look();
    this.tell((law) => law.end(laterMs));
  }
}
