/** How long a piece of work takes: a distribution from the system file, slowed down by the faults of its service. */
import type { Random } from "../core/random.ts";
import type { DurationSpec, FaultSpec } from "../system/types.ts";
import { exponential, rounded } from "./exact.ts";

/** A window in which work that starts takes longer. */
interface Slowness {
  readonly factor: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Draws durations of one kind of work. */
export class WorkTime {
  /** Whether it takes any time at all. */
  readonly takesTime: boolean;
  private readonly fixedMs: number;
  private readonly meanMs: number;
  /** Where its draws come from. */
  readonly stream: Random;
  private readonly slow: readonly Slowness[];

  constructor(spec: DurationSpec | undefined, faults: readonly FaultSpec[], zeroMs: number, random: Random) {
    this.fixedMs = spec?.kind === "fixed" ? rounded(spec.ms) : 0;
    this.meanMs = spec?.kind === "exponential" ? spec.meanMs : 0;
    this.takesTime = this.fixedMs > 0 || this.meanMs > 0;
    this.stream = random;
    this.slow = faults.flatMap((fault) => {
      if (fault.kind !== "slow" || fault.factor === 1) return [];
      return [{ factor: fault.factor, fromMs: zeroMs + fault.fromS * 1000, toMs: zeroMs + fault.toS * 1000 }];
    });
  }

  /** The duration of work that starts now. */
  draw(now: number): number {
    const factor = this.slow.length === 0 ? 1 : this.factorAt(now);
    if (this.meanMs > 0) return exponential(this.meanMs * factor, this.stream);
    return factor === 1 ? this.fixedMs : rounded(this.fixedMs * factor);
  }

  private factorAt(now: number): number {
    let factor = 1;
    for (const slow of this.slow) {
      if (now >= slow.fromMs && now < slow.toMs) factor *= slow.factor;
    }
    return factor;
  }
}
