// A program of the contract's fuzz: plain data, made from a seed, so that it can be printed, shrunk and run again.
import type { BreakerMode } from "../../src/core/index.ts";
import { SeededRandom } from "../../src/core/index.ts";

/** Something a callback of the user's does besides its duty. `call` −1 is the call it is about. */
export type Deed =
  | { readonly do: "cancel" | "start" | "end"; readonly call: number }
  | { readonly do: "throw" }
  | { readonly do: "resize"; readonly bulkhead: number; readonly limit: number };

/** The places where a call's callbacks run: its answer, its classifier, its fallback, its abort listener, an event. */
export type Site = "answer" | "classify" | "fallback" | "abort" | (typeof EVENTS)[number];

export const EVENTS = [
  "attempt.queued",
  "attempt.refused",
  "attempt.sent",
  "attempt.answered",
  "attempt.abandoned",
  "attempt.ended",
  "retry.scheduled",
  "retry.stopped",
  "hedge.stopped",
  "fallback.used",
  "call.answered",
] as const;

export const RESULTS = [
  "ok",
  "degraded",
  "transient",
  "throttled",
  "told",
  "permanent",
  "unsent",
  "unclassified",
] as const;

/** What a piece of work does. */
export interface WorkSpec {
  readonly how: "sync" | "async" | "never" | "throws";
  readonly afterMs: number;
  readonly result: (typeof RESULTS)[number];
  /** Reports a second end, which must change nothing. */
  readonly twice: boolean;
  /** Whether it hears that it is given up, and how long after that it ends; null: it ignores it. */
  readonly listens: "no" | "onAbort" | "signal";
  readonly obeysAfterMs: number | null;
  /** How long its body outlives its end. */
  readonly holdMs: number | null;
  /** Done when it starts. */
  readonly deed: Deed | null;
}

export type GuardSpec =
  | { readonly kind: "retry"; readonly attempts: number; readonly waits: readonly number[] | "jitter" }
  | { readonly kind: "hedge"; readonly delayMs: number }
  | {
      readonly kind: "fallback";
      readonly reserveMs: number;
      readonly timeoutMs: number;
      readonly permanent: boolean;
      readonly work: WorkSpec;
    }
  | { readonly kind: "deadline"; readonly ms: number }
  | { readonly kind: "breaker" | "bulkhead"; readonly of: number }
  | { readonly kind: "timeout"; readonly ms: number };

export interface StackSpec {
  readonly idempotent: boolean;
  readonly budget: number | null;
  readonly minUsefulMs: number;
  readonly guards: readonly GuardSpec[];
  /** What its backoff function does at its n-th use. */
  readonly backoffDeeds: readonly { readonly nth: number; readonly deed: Deed }[];
}

export interface CallSpec {
  readonly stack: number;
  /** When it is started; null: only if a callback starts it. */
  readonly at: number | null;
  /** Whether it is started from inside the loop, as by a callback. */
  readonly nested: boolean;
  readonly withinMs: number | null;
  readonly keyed: boolean;
  readonly cancelAfterMs: number | null;
  readonly works: readonly WorkSpec[];
  readonly deeds: readonly { readonly site: Site; readonly nth: number; readonly deed: Deed }[];
}

export interface BulkheadSpec {
  readonly limit: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  readonly reclaimMs: number | null;
}

export interface BreakerSpec {
  readonly window: { readonly calls: number } | { readonly ms: number };
  readonly minimumCalls: number;
  readonly failureRate: number;
  readonly openMs: number;
  readonly probes: number;
  readonly probeTimeoutMs: number | null;
  readonly probeLeaseMs: number;
}

export interface Program {
  readonly seed: number;
  readonly bulkheads: readonly BulkheadSpec[];
  readonly breakers: readonly BreakerSpec[];
  readonly budgets: readonly { readonly ratio: number; readonly burst: number }[];
  readonly stacks: readonly StackSpec[];
  readonly calls: readonly CallSpec[];
  /** What an operator does. */
  readonly acts: readonly ({ readonly at: number } & (
    | { readonly resize: number; readonly limit: number }
    | { readonly mode: BreakerMode; readonly breaker: number }
  ))[];
}

/** Chance in the shapes that a program needs. */
class Dice {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed).fork("program");
  }

  /** 0 to `below` − 1. */
  int(below: number): number {
    return Math.floor(this.#random.next() * below);
  }

  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  pick<T>(...from: readonly T[]): T {
    return from[this.int(from.length)] as T;
  }

  times<T>(count: number, make: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => make(index));
  }
}

const isAdmitter = (guard: GuardSpec | undefined): boolean =>
  guard?.kind === "breaker" || guard?.kind === "bulkhead";

/** Times are small whole numbers, so that things fall together. */
const HORIZON_MS = 80;

class Maker {
  readonly #dice: Dice;
  readonly #calls: number;
  readonly #bulkheads: readonly BulkheadSpec[];
  readonly #breakers: number;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#calls = 2 + dice.int(13);
    this.#bulkheads = dice.times(dice.int(3), () => this.#bulkhead());
    this.#breakers = dice.int(3);
  }

  program(seed: number): Program {
    const dice = this.#dice;
    const budgets = dice.times(dice.int(3), () => ({
      ratio: dice.pick(0, 0.1, 0.5, 1),
      burst: dice.int(5),
    }));
    const stacks = dice.times(1 + dice.int(3), () => this.#stack(budgets.length));
    return {
      seed,
      bulkheads: this.#bulkheads,
      breakers: dice.times(this.#breakers, () => this.#breaker()),
      budgets,
      stacks,
      calls: dice.times(this.#calls, () => this.#call(stacks.length)),
      acts: dice.chance(0.2) ? dice.times(1 + dice.int(3), () => this.#act()) : [],
    };
  }

  #bulkhead(): BulkheadSpec {
    const dice = this.#dice;
    return {
      limit: 1 + dice.int(3),
      maxWaiting: dice.pick(0, 1, 2, 5),
      maxWaitMs: dice.pick(0, 3, 10, 40),
      reclaimMs: dice.chance(0.2) ? 1 + dice.int(20) : null,
    };
  }

  #breaker(): BreakerSpec {
    const dice = this.#dice;
    const calls = 1 + dice.int(4);
    const probeTimeoutMs = dice.chance(0.4) ? 1 + dice.int(10) : null;
    return {
      window: dice.chance(0.7) ? { calls } : { ms: 10 + dice.int(40) },
      minimumCalls: 1 + dice.int(calls),
      failureRate: dice.pick(0.1, 0.5, 1),
      openMs: 1 + dice.int(20),
      probes: 1 + dice.int(2),
      probeTimeoutMs,
      probeLeaseMs: Math.max(probeTimeoutMs ?? 1, 5 + dice.int(30)),
    };
  }

  #act(): Program["acts"][number] {
    const dice = this.#dice;
    const at = dice.int(HORIZON_MS);
    if (this.#bulkheads.length > 0 && (this.#breakers === 0 || dice.chance(0.5)))
      return { at, resize: dice.int(this.#bulkheads.length), limit: 1 + dice.int(4) };
    const mode = dice.pick<BreakerMode>("enforce", "observe", "forcedOpen", "forcedClosed");
    return { at, mode, breaker: dice.int(Math.max(1, this.#breakers)) };
  }

  #stack(budgets: number): StackSpec {
    const dice = this.#dice;
    const guards = dice.chance(0.5) ? this.#canonical() : this.#free();
    const idempotent = dice.chance(0.7) || guards.some((guard) => guard.kind === "hedge");
    return {
      idempotent,
      budget: budgets > 0 && dice.chance(0.7) ? dice.int(budgets) : null,
      minUsefulMs: dice.chance(0.2) ? dice.int(10) : 0,
      guards,
      backoffDeeds: dice.chance(0.15) ? [{ nth: dice.int(4), deed: this.#deed() }] : [],
    };
  }

  /** The library's own order, which takes the fused path. */
  #canonical(): GuardSpec[] {
    const dice = this.#dice;
    return [
      ...(dice.chance(0.3) ? [this.#guard("fallback")] : []),
      ...(dice.chance(0.7) ? [this.#guard("retry")] : []),
      ...this.#admitters(),
      ...(dice.chance(0.8) ? [this.#guard("timeout")] : []),
    ];
  }

  /** Anything that can be written: sequences in any order, scopes outside them. */
  #free(): GuardSpec[] {
    const dice = this.#dice;
    const guards: GuardSpec[] = [];
    for (let i = dice.int(4); i > 0; i--) {
      if (dice.chance(0.3) && !isAdmitter(guards.at(-1))) guards.push(...this.#admitters());
      else guards.push(this.#guard(dice.pick("retry", "hedge", "fallback", "deadline")));
    }
    if (!isAdmitter(guards.at(-1))) guards.push(...this.#admitters());
    if (dice.chance(0.8)) guards.push(this.#guard("timeout"));
    return guards;
  }

  /** One run of admitters; only one of a run may have a queue. */
  #admitters(): GuardSpec[] {
    const dice = this.#dice;
    const run: GuardSpec[] = [];
    if (this.#breakers > 0 && dice.chance(0.5)) run.push({ kind: "breaker", of: dice.int(this.#breakers) });
    if (this.#bulkheads.length > 0 && dice.chance(0.6)) {
      const of = dice.int(this.#bulkheads.length);
      run.push({ kind: "bulkhead", of });
      const other = this.#bulkheads.findIndex(
        ({ maxWaiting }, index) =>
          index !== of && (maxWaiting === 0 || this.#bulkheads[of]?.maxWaiting === 0),
      );
      if (other >= 0 && dice.chance(0.4)) run.push({ kind: "bulkhead", of: other });
    }
    return dice.chance(0.2) ? run.reverse() : run;
  }

  #guard(kind: "retry" | "hedge" | "fallback" | "deadline" | "timeout"): GuardSpec {
    const dice = this.#dice;
    if (kind === "retry") {
      const waits = dice.chance(0.5)
        ? dice.times(1 + dice.int(3), () => dice.pick(0, 0, 1, 5, 20))
        : "jitter";
      return { kind, attempts: 1 + dice.int(4), waits };
    }
    if (kind === "hedge") return { kind, delayMs: 1 + dice.int(15) };
    if (kind === "deadline") return { kind, ms: 1 + dice.int(50) };
    if (kind === "timeout") return { kind, ms: 1 + dice.int(25) };
    return {
      kind,
      reserveMs: dice.pick(0, 0, 5, 15),
      timeoutMs: 1 + dice.int(15),
      permanent: dice.chance(0.3),
      work: this.#work(),
    };
  }

  #call(stacks: number): CallSpec {
    const dice = this.#dice;
    return {
      stack: dice.int(stacks),
      at: dice.chance(0.85) ? dice.int(dice.chance(0.5) ? 10 : HORIZON_MS) : null,
      nested: dice.chance(0.3),
      withinMs: dice.chance(0.5) ? dice.int(50) : null,
      keyed: dice.chance(0.3),
      cancelAfterMs: dice.chance(0.2) ? dice.int(30) : null,
      works: dice.times(1 + dice.int(3), () => this.#work()),
      deeds: dice.chance(0.3) ? dice.times(1 + dice.int(2), () => this.#site()) : [],
    };
  }

  #site(): CallSpec["deeds"][number] {
    const dice = this.#dice;
    const site = dice.pick<Site>("answer", "classify", "fallback", "abort", ...EVENTS);
    return { site, nth: dice.int(2), deed: this.#deed() };
  }

  #work(): WorkSpec {
    const dice = this.#dice;
    const listens = dice.chance(0.3) ? (dice.chance(0.2) ? "signal" : "onAbort") : "no";
    return {
      how: dice.pick("sync", "async", "async", "async", "never", "throws"),
      afterMs: dice.int(25),
      result: dice.chance(0.4) ? "ok" : dice.pick(...RESULTS),
      twice: dice.chance(0.1),
      listens,
      obeysAfterMs: listens !== "no" && dice.chance(0.7) ? dice.int(5) : null,
      holdMs: dice.chance(0.1) ? dice.int(40) : null,
      deed: dice.chance(0.15) ? this.#deed() : null,
    };
  }

  #deed(): Deed {
    const dice = this.#dice;
    const does = dice.pick("cancel", "cancel", "cancel", "start", "start", "throw", "end", "resize");
    if (does === "throw") return { do: "throw" };
    if (does === "resize")
      return {
        do: "resize",
        bulkhead: dice.int(Math.max(1, this.#bulkheads.length)),
        limit: 1 + dice.int(3),
      };
    return { do: does, call: dice.chance(0.5) && does !== "start" ? -1 : dice.int(this.#calls) };
  }
}

/** The program of a seed. */
export function programOf(seed: number): Program {
  return new Maker(new Dice(seed)).program(seed);
}
