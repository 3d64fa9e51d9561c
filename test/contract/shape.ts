// What can be said of a stack from its guards alone.
import { isAdmitter } from "./guards.ts";
import type { AdmitterSpec, CoalesceSpec, FallbackSpec, GuardSpec, HedgeSpec, StackSpec } from "./program.ts";

export class Shape {
  readonly spec: StackSpec;
  /** Works that one call can make at most. */
  readonly maxWorks: number;
  readonly hedged: boolean;
  readonly retries: number;
  readonly fallbacks: readonly FallbackSpec[];
  /** What fallbacks may add to the deadline; none: nothing. */
  readonly fallbackMs: number;
  readonly timeoutMs: number;
  /** The guards around each attempt, and those around sequences. */
  readonly innermost: readonly AdmitterSpec[];
  readonly scopes: readonly AdmitterSpec[];
  readonly coalesce: CoalesceSpec | null;
  /** Whether calls are shared before anything else. */
  readonly coalescesFirst: boolean;
  /** Whether a flight is what is repeated, or hedged. */
  readonly repeatsFlights: boolean;
  /** Of a flight's own stack: that within its coalescing. Of any other, itself. */
  readonly flight: Shape;
  /** The one hedge whose branches are one attempt each, under at most one retry; null where there is no such. */
  readonly race: HedgeSpec | null;

  constructor(spec: StackSpec) {
    this.spec = spec;
    const { guards } = spec;
    const hedges = guards.filter((guard) => guard.kind === "hedge");
    this.hedged = hedges.length > 0;
    this.retries = guards.filter((guard) => guard.kind === "retry").length;
    this.maxWorks = guards.reduce(
      (product, guard) =>
        guard.kind === "retry" || guard.kind === "hedge" ? product * guard.attempts : product,
      1,
    );
    this.fallbacks = guards.filter((guard) => guard.kind === "fallback");
    const onceMs = this.fallbacks.reduce((sum, guard) => sum + guard.timeoutMs, 0);
    // Within a hedge, each copy may come to its own.
    this.fallbackMs = this.hedged ? onceMs * this.maxWorks : onceMs;
    const last = guards.at(-1);
    this.timeoutMs = last?.kind === "timeout" ? last.ms : Infinity;
    const rest = last?.kind === "timeout" ? guards.slice(0, -1) : [...guards];
    let from = rest.length;
    while (isAdmitter(rest[from - 1])) from--;
    this.innermost = rest.slice(from).filter(isAdmitter);
    this.scopes = rest.slice(0, from).filter(isAdmitter);
    const at = guards.findIndex((guard) => guard.kind === "coalesce");
    this.coalesce = (guards[at] as CoalesceSpec | undefined) ?? null;
    this.coalescesFirst = at === 0;
    this.repeatsFlights = guards
      .slice(0, Math.max(0, at))
      .some(({ kind }) => kind === "retry" || kind === "hedge");
    this.flight = at < 0 ? this : new Shape({ ...spec, guards: guards.slice(at + 1) });
    const [only] = hedges;
    const within = only === undefined ? [] : guards.slice(guards.indexOf(only) + 1);
    const plain = within.every((guard) => isAdmitter(guard) || guard.kind === "timeout");
    this.race = only !== undefined && plain && this.retries <= 1 ? only : null;
  }

  get hasFallback(): boolean {
    return this.fallbacks.length > 0;
  }

  /** How often a machine stands in it. */
  count(kind: AdmitterSpec["kind"], of: number): number {
    const is = (guard: GuardSpec): boolean => guard.kind === kind && "of" in guard && guard.of === of;
    return this.spec.guards.filter(is).length;
  }

  /** A single retry around the attempt, and nothing that makes attempts side by side. */
  get isPlain(): boolean {
    return !this.hedged && this.retries <= 1 && this.coalesce === null;
  }
}
