// The guards of a random stack: the library's own order, or any that can be written.
import type { Dice } from "./dice.ts";
import type { AdmitterSpec, BulkheadSpec, FallbackSpec, GuardSpec, HedgeSpec, WorkSpec } from "./program.ts";

const ADMITTERS = new Set<string>([
  "breaker",
  "breakers",
  "partial",
  "throttle",
  "rate",
  "rates",
  "bulkhead",
  "bulkheads",
] satisfies AdmitterSpec["kind"][]);

/** Whether it decides at once. */
export function isAdmitter(guard: GuardSpec | undefined): guard is AdmitterSpec {
  return guard !== undefined && ADMITTERS.has(guard.kind);
}

/** What there is to choose from. */
export interface Stock {
  readonly bulkheads: readonly BulkheadSpec[];
  readonly breakers: number;
  readonly rates: number;
  work(): WorkSpec;
}

/** Makes guards. */
export class GuardMaker {
  readonly #dice: Dice;
  readonly #stock: Stock;

  constructor(dice: Dice, stock: Stock) {
    this.#dice = dice;
    this.#stock = stock;
  }

  /** The library's own order, which takes the fused path unless it coalesces or hedges. */
  canonical(): GuardSpec[] {
    const dice = this.#dice;
    return [
      ...(dice.chance(0.35) ? [this.guard("fallback")] : []),
      ...(dice.chance(0.2) ? [this.guard("coalesce")] : []),
      ...(dice.chance(0.7) ? [this.guard("retry")] : []),
      ...(dice.chance(0.2) ? [this.guard("hedge")] : []),
      ...this.#admitters(),
      ...(dice.chance(0.8) ? [this.guard("timeout")] : []),
    ];
  }

  /** Anything that can be written: sequences in any order, scopes outside them; flights only within no other flight. */
  free(): GuardSpec[] {
    const dice = this.#dice;
    const guards: GuardSpec[] = [];
    for (let i = dice.int(4); i > 0; i--) {
      if (dice.chance(0.3) && !isAdmitter(guards.at(-1))) guards.push(...this.#admitters());
      else {
        const kind = dice.pick("retry", "hedge", "fallback", "deadline", "coalesce");
        if (kind !== "coalesce" || guards.every((guard) => guard.kind !== "coalesce"))
          guards.push(this.guard(kind));
      }
    }
    if (!isAdmitter(guards.at(-1))) guards.push(...this.#admitters());
    if (dice.chance(0.8)) guards.push(this.guard("timeout"));
    return guards;
  }

  guard(kind: "retry" | "hedge" | "fallback" | "deadline" | "coalesce" | "timeout"): GuardSpec {
    const dice = this.#dice;
    if (kind === "retry") {
      const waits = dice.chance(0.5)
        ? dice.times(1 + dice.int(3), () => dice.pick(0, 0, 1, 5, 20))
        : "jitter";
      return { kind, attempts: 1 + dice.int(4), waits };
    }
    if (kind === "hedge") return this.#hedge();
    if (kind === "deadline") return { kind, ms: 1 + dice.int(50) };
    if (kind === "timeout") return { kind, ms: 1 + dice.int(25) };
    if (kind === "fallback") return this.#fallback();
    return {
      kind,
      maxWaiting: dice.pick(1, 2, 10),
      maxFlights: dice.pick(1, 2, 10),
      shareFailuresMs: dice.pick(0, 0, 5, 30),
    };
  }

  #hedge(): HedgeSpec {
    const dice = this.#dice;
    const live = { percentile: 0.5, windowMs: 1_000, minSamples: 1 + dice.int(3), minMs: 1 + dice.int(4) };
    return {
      kind: "hedge",
      delayMs: dice.chance(0.3) ? live : dice.int(15),
      attempts: dice.pick(2, 2, 3, 4),
      quietMs: dice.pick(0, 5, 30, 1_000),
      onFailure: dice.chance(0.3) ? "next" : "stop",
      tied: dice.chance(0.4),
    };
  }

  #fallback(): FallbackSpec {
    const dice = this.#dice;
    const how = dice.pick("run", "run", "stale", "default", "elsewhere");
    return {
      kind: "fallback",
      how,
      reserveMs: dice.pick(0, 0, 5, 15),
      timeoutMs: 1 + dice.int(15),
      permanent: dice.chance(0.3),
      exercise: how !== "elsewhere" && dice.chance(0.2) ? dice.pick(0.5, 1) : 0,
      maxAgeMs: dice.pick(5, 20, 60),
      work: this.#stock.work(),
    };
  }

  /** One run of admitters; only one of a run may have a queue. */
  #admitters(): AdmitterSpec[] {
    const dice = this.#dice;
    const { breakers, rates } = this.#stock;
    const run: AdmitterSpec[] = [];
    if (breakers > 0 && dice.chance(0.5)) run.push(this.#perhapsByKey("breaker", dice.int(breakers)));
    else if (dice.chance(0.15)) run.push(this.#partial());
    if (dice.chance(0.15)) run.push(this.#throttle());
    if (rates > 0 && dice.chance(0.4)) run.push(this.#perhapsByKey("rate", dice.int(rates)));
    run.push(...this.#bulkheads());
    return dice.chance(0.2) ? run.reverse() : run;
  }

  #bulkheads(): AdmitterSpec[] {
    const dice = this.#dice;
    const { bulkheads } = this.#stock;
    if (bulkheads.length === 0 || dice.chance(0.4)) return [];
    const of = dice.int(bulkheads.length);
    const other = bulkheads.findIndex(
      ({ maxWaiting }, index) => index !== of && (maxWaiting === 0 || bulkheads[of]?.maxWaiting === 0),
    );
    const first = this.#perhapsByKey("bulkhead", of);
    return other >= 0 && dice.chance(0.4) ? [first, { kind: "bulkhead", of: other }] : [first];
  }

  #perhapsByKey(kind: "breaker" | "bulkhead" | "rate", of: number): AdmitterSpec {
    const dice = this.#dice;
    if (dice.chance(0.7)) return { kind, of };
    const keys = { by: dice.pick("key", "key", "tenant"), maxKeys: dice.pick(2, 4, 20) } as const;
    return { kind: `${kind}s`, of, ...keys, idleMs: dice.pick(10, 600_000) };
  }

  #partial(): AdmitterSpec {
    const dice = this.#dice;
    return { kind: "partial", intervalMs: dice.pick(1, 5, 20), rise: dice.pick(0.5, 1), fall: 0.1 };
  }

  #throttle(): AdmitterSpec {
    const dice = this.#dice;
    return {
      kind: "throttle",
      k: dice.pick(1, 2),
      windowMs: dice.pick(20, 60, 120_000),
      maxRefused: dice.pick(0.5, 0.95),
      rejects: dice.pick("overload", "failures"),
    };
  }
}
