// Races (laws 3, 6): no more copies, none too early, none while things are quiet, and none beside one that is begun on.
import type { HedgeSpec } from "../program.ts";
import type { Sender, WorkRun } from "../records.ts";
import { Law } from "./law.ts";

/** What a stack's plain hedge has heard. */
interface Heard {
  /** Attempts that took so long, or longer. */
  samples: number;
  /** When the dependency asked for less, and who was told. */
  quiet: { readonly at: number; readonly by: WorkRun }[];
}

export class Races extends Law {
  readonly #heard: readonly Heard[] = this.scene.shapes.map(() => ({ samples: 0, quiet: [] }));

  #of({ spec }: Sender): Heard {
    return this.#heard[spec.stack] as Heard;
  }

  override starts(run: WorkRun): void {
    const { sender, attempt } = run;
    const { race } = this.shapeOf(sender);
    if (race === null || run.isFallback) return;
    const inRace = sender.works.filter((work) => work.race === run.race);
    if (inRace.length > race.attempts) this.fail("6", `${inRace.length} in a race, of ${race.attempts}`);
    if (sender.begun.has(run.race))
      this.fail("3", `${sender.name} was sent again, although its callee had begun`);
    if (attempt.kind === "hedge") this.#early(run, race, inRace.slice(0, -1));
  }

  /** The delay, the samples and the quiet, where nothing waited in between. */
  #early(run: WorkRun, race: HedgeSpec, others: readonly WorkRun[]): void {
    const before = others.at(-1);
    if (before === undefined) return this.fail("3", "a hedge of nothing");
    const { samples, quiet } = this.#of(run.sender);
    const failed = others.some(({ attempt }) => attempt.state !== "sent");
    if (race.onFailure === "stop" || !failed) this.#tooEarly(run, race, before, samples);
    if (!this.scene.exact || others.some(({ attempt }) => attempt.wait !== null)) return;
    if (run.attempt.wait !== null) return;
    for (const { at, by } of quiet) {
      // A race that was decided, or given up, in that very instant has not heard of it.
      const { good, works, founder } = by.sender;
      const decided = works.some((work) => work !== by && work.endedAt === at);
      if (good || decided || founder.cancelled !== null) continue;
      if (at < this.now && this.now < at + race.quietMs)
        this.fail("3", `hedged ${this.now - at} ms after the dependency asked for less`);
    }
  }

  #tooEarly(run: WorkRun, { delayMs }: HedgeSpec, before: WorkRun, samples: number): void {
    const live = typeof delayMs === "object";
    if (live && samples < delayMs.minSamples)
      this.fail("3", `hedged after ${samples} samples, of ${delayMs.minSamples}`);
    if (!this.scene.exact || run.attempt.wait !== null || before.attempt.wait !== null) return;
    const [ms, least] = [run.startedAt - before.startedAt, live ? delayMs.minMs : delayMs];
    if (ms < least) this.fail("3", `hedged after ${ms} ms, of ${least}`);
  }

  override ends(run: WorkRun, ending: string): void {
    const heard = this.#of(run.sender);
    if (ending === "ok" || ending === "degraded" || ending === "hedgeLoser") heard.samples++;
    if (ending === "throttled" && this.shapeOf(run.sender).race !== null)
      heard.quiet.push({ at: this.now, by: run });
  }

  /** The callee is said to have begun on a work. */
  override begun(run: WorkRun): void {
    const { sender, attempt, race } = run;
    if (this.shapeOf(sender).race?.tied !== true || run.isFallback || attempt.state !== "sent") return;
    if (!sender.begun.has(race)) sender.begun.set(race, run);
  }

  override look(): void {
    for (const { sender, attempt, race, isFallback } of this.world.live) {
      const begun = isFallback ? undefined : sender.begun.get(race);
      if (attempt.state === "sent" && begun !== undefined && begun.attempt !== attempt)
        this.fail("3", `an attempt of ${sender.name} goes on, although its callee has begun on another`);
    }
  }
}
