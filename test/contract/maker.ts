// The program of a seed.
import type { BreakerMode } from "../../src/core/index.ts";
import { Dice } from "./dice.ts";
import { GuardMaker } from "./guards.ts";
import { someBreaker, someBudget, someBulkhead, someRate } from "./machines.ts";
import {
  type BulkheadSpec,
  type CallSpec,
  type Deed,
  EVENTS,
  MOMENTS,
  type Program,
  RESULTS,
  type Site,
  type StackSpec,
  type WorkSpec,
} from "./program.ts";

/** Times are small whole numbers, so that things fall together. */
const HORIZON_MS = 80;

class Maker {
  readonly #dice: Dice;
  readonly #calls: number;
  readonly #bulkheads: readonly BulkheadSpec[];
  readonly #breakers: number;
  readonly #rates: number;
  readonly #guards: GuardMaker;
  /** How many keys the calls have among them: few, where they are to meet. */
  readonly #keys: number;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#calls = 2 + dice.int(13);
    this.#keys = dice.pick(1, 2, 5);
    this.#bulkheads = dice.times(dice.int(3), () => someBulkhead(dice));
    this.#breakers = dice.int(3);
    this.#rates = dice.int(3);
    this.#guards = new GuardMaker(dice, {
      bulkheads: this.#bulkheads,
      breakers: this.#breakers,
      rates: this.#rates,
      work: () => this.#work(),
    });
  }

  program(seed: number): Program {
    const dice = this.#dice;
    const budgets = dice.times(dice.int(3), () => someBudget(dice));
    const stacks = dice.times(1 + dice.int(3), () => this.#stack(budgets.length));
    return {
      seed,
      bulkheads: this.#bulkheads,
      breakers: dice.times(this.#breakers, () => someBreaker(dice)),
      rates: dice.times(this.#rates, () => someRate(dice)),
      budgets,
      stacks,
      calls: dice.times(this.#calls, () => this.#call(stacks.length)),
      acts: dice.chance(0.2) ? dice.times(1 + dice.int(3), () => this.#act()) : [],
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
    const guards = dice.chance(0.5) ? this.#guards.canonical() : this.#guards.free();
    const idempotent =
      dice.chance(0.7) || guards.some((guard) => guard.kind === "hedge" || guard.kind === "coalesce");
    return {
      idempotent,
      budget: budgets > 0 && dice.chance(0.7) ? dice.int(budgets) : null,
      minUsefulMs: dice.chance(0.2) ? dice.int(10) : 0,
      guards,
      backoffDeeds: dice.chance(0.15) ? [{ nth: dice.int(4), deed: this.#deed() }] : [],
    };
  }

  #call(stacks: number): CallSpec {
    const dice = this.#dice;
    return {
      stack: dice.int(stacks),
      at: dice.maybe(0.85, () => dice.int(dice.chance(0.5) ? 10 : HORIZON_MS)),
      nested: dice.chance(0.3),
      withinMs: dice.maybe(0.5, () => dice.int(50)),
      keyed: dice.chance(0.3),
      tenant: dice.pick("", "", "t"),
      key: dice.chance(0.2) ? "" : `k${dice.int(this.#keys)}`,
      bytes: dice.pick(0, 0, 1, 2, 4),
      cancelAfterMs: dice.maybe(0.2, () => dice.int(30)),
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
      holdMs: dice.maybe(0.1, () => dice.int(40)),
      begins: dice.chance(0.25) ? dice.times(1 + dice.int(2), () => dice.pick(...MOMENTS)) : [],
      chooses: dice.chance(0.25) ? dice.times(1 + dice.int(2), () => 1 + dice.int(3)) : [],
      deed: dice.maybe(0.15, () => this.#deed()),
    };
  }

  #deed(): Deed {
    const dice = this.#dice;
    const does = dice.pick("cancel", "cancel", "start", "start", "start", "throw", "end", "resize", "begin");
    if (does === "throw") return { do: "throw" };
    if (does === "resize")
      return {
        do: "resize",
        bulkhead: dice.int(Math.max(1, this.#bulkheads.length)),
        limit: 1 + dice.int(3),
      };
    if (does === "start") return { do: "start", call: dice.int(this.#calls), within: dice.chance(0.6) };
    return { do: does, call: dice.chance(0.5) ? -1 : dice.int(this.#calls) };
  }
}

/** The program of a seed. */
export function programOf(seed: number): Program {
  return new Maker(new Dice(seed)).program(seed);
}
