/**
 * The retry budget: bounds what repeats add to the load of one dependency, however many callers repeat.
 *
 * A bucket of `burst` tokens. Every first attempt that is sent earns `ratio` of a token; every retry or hedge costs
 * one. When a dependency fails everything its load grows to 1 + ratio, not to the number of attempts. A budget earns
 * per request, so a fleet's repeats stay near `ratio` of its traffic whatever its size; the burst is per instance.
 *
 * Invariant: sent + reserved ≤ burst + ratio × first attempts sent; 0 ≤ level ≤ burst. Levels are whole
 * thousandths, so ten deposits of 0.1 make exactly 1.
 * Sources: the Basketly page, Part 5 (10 tokens, 0.1 a first attempt); Google SRE book, "Handling Overload" (10 %).
 */
import { OptionError } from "../errors.ts";
import { checkKeys, checkNumber, orDefault } from "../options.ts";
import { Budget } from "./budget.ts";

/** Options of a ratio budget. */
export interface BudgetOptions {
  /** Repeats allowed per first attempt, 0 to 1, in steps of 0.001. Default 0.1 (SRE book: 10 %). */
  readonly ratio?: number;
  /** Tokens a full bucket holds, 0 to 1,000,000, whole. Default 10 (the Basketly page, Part 5). Per process. */
  readonly burst?: number;
}

/** Thousandths in a token. */
export const ONE = 1000;

/** A ratio budget. */
export class RetryBudget extends Budget {
  readonly ratio: number;
  readonly burst: number;
  private readonly earning: number;
  private readonly full: number;
  private thousandths: number;

  constructor(options: BudgetOptions = {}, field = "budget") {
    super();
    checkKeys(field, options, ["ratio", "burst"]);
    this.ratio = checkNumber(`${field}.ratio`, orDefault(options.ratio, 0.1), { max: 1 });
    this.burst = checkNumber(`${field}.burst`, orDefault(options.burst, 10), {
      max: 1_000_000,
      integer: true,
    });
    this.earning = Math.round(this.ratio * ONE);
    if (Math.abs(this.ratio * ONE - this.earning) > 1e-6) {
      throw new OptionError(`${field}.ratio`, this.ratio, "a whole number of thousandths");
    }
    this.full = this.burst * ONE;
    this.thousandths = this.full;
  }

  override get level(): number {
    return this.thousandths / ONE;
  }

  protected override take(): number | null {
    if (this.thousandths < ONE) return null;
    this.thousandths -= ONE;
    return ONE;
  }

  protected override giveBack(cost: number): void {
    this.thousandths = Math.min(this.full, this.thousandths + cost);
  }

  protected override earn(): void {
    const level = this.thousandths + this.earning;
    this.thousandths = Math.min(level, this.full);
  }
}
