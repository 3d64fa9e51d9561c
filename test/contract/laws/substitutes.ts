// Fallbacks (laws 1, 8, 9): what stands in for an answer says so, is of the right kind, young and of the same caller,
// and nothing that may have been done is done elsewhere.
import type { Exit, PlimsollEvent } from "../../../src/core/index.ts";
import { DEFAULT } from "../build.ts";
import type { FallbackSpec } from "../program.ts";
import type { CallRun, FlightRun, Sender, WorkRun } from "../records.ts";
import { Law } from "./law.ts";

/** Ends after which it certainly did not run. */
const WITHOUT_EFFECT = new Set(["unsent", "throttled"]);

export class Substitutes extends Law {
  override starts(run: WorkRun): void {
    if (run.fallback?.how === "elsewhere") this.#elsewhere(run);
  }

  /** All that was sent for it: by itself, and by the flights that it waited for. */
  #sent(sender: Sender): readonly WorkRun[] {
    const { flights } = sender.founder;
    const own: readonly FlightRun[] = sender === sender.founder ? flights : [];
    return [...sender.works, ...own.flatMap(({ works }) => works)];
  }

  /** Where nothing outside it repeats, nothing that was sent for the call may have had an effect. */
  #elsewhere({ sender, fallback }: WorkRun): void {
    const { guards } = this.shapeOf(sender).spec;
    const at = guards.indexOf(fallback as FallbackSpec);
    if (guards.slice(0, at).some(({ kind }) => kind === "retry" || kind === "hedge")) return;
    for (const work of this.#sent(sender)) {
      const { judged, ending } = work;
      if (judged === null || !WITHOUT_EFFECT.has(judged) || (ending !== null && ending !== judged))
        this.fail("8", `${sender.name} goes elsewhere, and an attempt ended with ${judged ?? "no word"}`);
    }
  }

  override event(sender: Sender, event: PlimsollEvent): void {
    if (event.type !== "fallback.used" || event.because !== "exercised") return;
    if (this.shapeOf(sender).fallbacks.every(({ exercise }) => exercise === 0))
      this.fail("1", "exercised, and nobody asked for that");
  }

  override answered(call: CallRun, exit: Exit): void {
    if (exit.kind !== "ok") return;
    const substitute = typeof exit.degradedBy === "object";
    if (exit.value === DEFAULT) this.#ofKind(call, "default", substitute);
    else if (substitute) this.#substitute(call, exit.value);
    else this.#answer(call, exit.value, exit.degradedBy);
  }

  #ofKind(call: CallRun, kind: FallbackSpec["how"], degraded = true): void {
    if (!degraded) this.fail("1", `${call.name} was answered with a substitute that does not say so`);
    if (this.shapeOf(call).fallbacks.every(({ how }) => how !== kind))
      this.fail("1", `${call.name} was answered by a ${kind} fallback, which it has not`);
  }

  /** Given by a fallback of the call's own or of its flight's, or an answer that was kept. */
  #substitute(call: CallRun, value: unknown): void {
    const run = this.world.byMark.get(value);
    if (run === undefined) return this.fail("1", `${call.name} was answered with what no work gave`);
    const own = run.sender === call || call.flights.includes(run.sender as FlightRun);
    if (run.isFallback) {
      if (!own || !run.reported) this.fail("1", `${call.name} was answered with another's substitute`);
      return;
    }
    this.#ofKind(call, "stale");
    const { stack, tenant, key } = run.sender.spec;
    if (stack !== call.spec.stack || tenant !== call.spec.tenant || key !== call.spec.key)
      this.fail("1", `${call.name} was answered with what another key or tenant got`);
    if (run.judged !== "ok" && run.ending !== "ok")
      this.fail("1", `${call.name} was answered with less than a whole`);
    const { fallbacks, fallbackMs } = this.shapeOf(call);
    // One within may have been tried before the answer came to the one that kept it.
    const laterMs = fallbacks.length > 1 ? fallbackMs : 0;
    const maxAgeMs = Math.max(...fallbacks.map((spec) => spec.maxAgeMs)) + laterMs;
    if (this.scene.exact && this.now - run.endedAt > maxAgeMs)
      this.fail("9", `${call.name} was answered with what is ${this.now - run.endedAt} ms old`);
  }

  #answer(call: CallRun, value: unknown, degradedBy: unknown): void {
    const run = this.world.byMark.get(value);
    const own = run?.sender === call || call.flights.includes(run?.sender as FlightRun);
    if (run === undefined || !run.reported || !own)
      return this.fail("1", `${call.name} was answered with what no work of its gave`);
    if (run.isFallback) this.fail("1", `${call.name} was answered with a substitute that does not say so`);
    if ((degradedBy === "callee") !== (run.judged === "degraded"))
      this.fail("1", `${call.name} was answered ${degradedBy ?? "whole"}, by a work that was ${run.judged}`);
  }
}
