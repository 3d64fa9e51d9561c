// Guards that refuse a share (law 3): only after the dependency has refused, or failed.
import type { Asking, Rejected } from "../../../src/core/index.ts";
import type { AdmitterSpec } from "../program.ts";
import type { WorkRun } from "../records.ts";
import { FAILURES, Law, SUCCESSES } from "./law.ts";

interface End {
  readonly at: number;
  readonly ending: string;
}

export class Shares extends Law {
  /** How attempts of each stack have ended. */
  readonly #ends: Map<number, End[]> = new Map();
  /** What each throttle refused itself. */
  readonly #own: Map<AdmitterSpec, number[]> = new Map();
  readonly #refusals: (() => void)[] = [];

  override ends(run: WorkRun, ending: string): void {
    this.#note(run.sender.spec.stack, ending);
  }

  #note(stack: number, ending: string): void {
    const ends = this.#ends.get(stack) ?? [];
    ends.push({ at: this.now, ending });
    this.#ends.set(stack, ends);
  }

  /** What it refuses for may not have been told yet: judged when nothing is half-way. */
  override refused(
    spec: AdmitterSpec,
    stack: number,
    _asking: Asking,
    _refusal: Rejected,
    now: number,
  ): void {
    if (spec.kind === "partial" || spec.kind === "throttle")
      this.#refusals.push(() => this.#mayRefuse(spec, stack, now));
  }

  override look(): void {
    for (const judge of this.#refusals.splice(0)) judge();
  }

  #mayRefuse(spec: AdmitterSpec & { kind: "partial" | "throttle" }, stack: number, now: number): void {
    const ends = this.#ends.get(stack) ?? [];
    const isBad = (ending: string): boolean =>
      ending === "throttled" ||
      ((spec.kind === "partial" || spec.rejects === "failures") && FAILURES.has(ending));
    const bad = ends.filter(({ ending }) => isBad(ending));
    if (bad.length === 0) this.fail("3", `a ${spec.kind} refuses, and nothing has failed`);
    if (spec.kind !== "throttle") return;
    const own = this.#own.get(spec) ?? [];
    this.#own.set(spec, own);
    this.#justified(spec, stack, own, ends, isBad);
    own.push(now);
  }

  /** Nothing is refused while what was wanted is at most K × what was accepted, within the window. */
  #justified(
    { k, windowMs }: AdmitterSpec & { kind: "throttle" },
    stack: number,
    own: readonly number[],
    ends: readonly End[],
    isBad: (ending: string) => boolean,
  ): void {
    const shape = this.scene.shapes[stack];
    const scoped = shape?.scopes.some(({ kind }) => kind === "throttle") === true;
    if (scoped || !this.scene.exact) return;
    // The window is right to within a tenth of it, and a run is asked again for who has waited.
    const from = this.now - windowMs;
    const surely = this.now - 0.9 * windowMs;
    const rejects = ends.filter(({ at, ending }) => at >= from && isBad(ending)).length;
    const accepts = ends.filter(
      ({ at, ending }) => at > surely && at < this.now && SUCCESSES.has(ending),
    ).length;
    const refused = own.filter((at) => at >= from).length;
    if (rejects + refused + accepts <= k * accepts)
      this.fail("3", `throttled, with ${accepts} accepted and ${rejects} rejected`);
  }
}
