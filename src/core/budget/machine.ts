/**
 * The retry budget: bounds what repeats add to the load of one dependency, however many callers repeat.
 *
 * A bucket of `burst` tokens. Every first attempt that is sent earns `ratio` of a token; every retry or hedge costs
 * one, *reserved* when it is decided, before its backoff (so that waiting retries count), spent when it is sent, and
 * handed back if it never is. When a dependency fails everything its load grows to 1 + ratio, not to the number of
 * attempts. A budget earns per request, so a fleet's repeats stay near `ratio` of its traffic whatever its size; the
 * burst is per instance.
 *
 * Invariant: sent + reserved ≤ burst + ratio × first attempts sent; 0 ≤ level ≤ burst. Levels are whole
 * thousandths, so ten deposits of 0.1 make exactly 1.
 * Sources: the Basketly page, Part 5 (10 tokens, 0.1 a first attempt); Google SRE book, "Handling Overload" (10 %).
 */
import { type Exit, type Rejected, rejected } from "../call.ts";
import { OptionError } from "../errors.ts";
import { checkKeys, checkNumber, orDefault } from "../options.ts";

/** Options of a ratio budget. */
export interface BudgetOptions {
  /** Repeats allowed per first attempt, 0 to 1, in steps of 0.001. Default 0.1 (SRE book: 10 %). */
  readonly ratio?: number;
  /** Tokens a full bucket holds, 0 to 1,000,000, whole. Default 10 (the Basketly page, Part 5). Per process. */
  readonly burst?: number;
}

/** What a repeat is, for the books. */
export type RepeatKind = "retry" | "hedge";

const ONE = 1000;
const EMPTY: Rejected = rejected("budget", "empty");

/** A ratio budget, shared by everything that repeats calls to one dependency. */
export class RetryBudget {
  readonly ratio: number;
  readonly burst: number;
  /** First attempts that reached the work, and repeats sent, since the start. Their quotient is the measured ratio. */
  firsts = 0;
  repeats = 0;
  /** Reserved tokens that are neither spent nor handed back yet. */
  reserved = 0;
  private readonly earn: number;
  private readonly full: number;
  private thousandths: number;

  constructor(options: BudgetOptions = {}, field = "budget") {
    checkKeys(field, options, ["ratio", "burst"]);
    this.ratio = checkNumber(`${field}.ratio`, orDefault(options.ratio, 0.1), { max: 1 });
    this.burst = checkNumber(`${field}.burst`, orDefault(options.burst, 10), {
      max: 1_000_000,
      integer: true,
    });
    this.earn = Math.round(this.ratio * ONE);
    if (Math.abs(this.ratio * ONE - this.earn) > 1e-6) {
      throw new OptionError(`${field}.ratio`, this.ratio, "a whole number of thousandths");
    }
    this.full = this.burst * ONE;
    this.thousandths = this.full;
  }

  /** Tokens left. */
  get level(): number {
    return this.thousandths / ONE;
  }

  /** Repeats sent per first attempt sent, since the start; 0 before the first. */
  get measuredRatio(): number {
    return this.firsts === 0 ? 0 : this.repeats / this.firsts;
  }

  /** Sets a token aside for a repeat that has been decided on, or refuses. */
  reserve(_kind: RepeatKind): Token | Rejected {
    if (this.thousandths < ONE) return EMPTY;
    this.thousandths -= ONE;
    this.reserved++;
    return new Token(this);
  }

  /** A first attempt was sent. */
  firstSent(): void {
    this.firsts++;
    const level = this.thousandths + this.earn;
    this.thousandths = Math.min(level, this.full);
  }

  /**
   * An attempt was answered; `token` is what it spent, null for a first attempt. A ratio budget minds only whether it
   * left at all: a repeat whose connection failed gets its token back. Rules that mind more (gRPC's, AWS's) live here.
   */
  settled(exit: Exit, token: Token | null): void {
    if (token === null || exit.kind !== "failed" || exit.ended !== "unsent") return;
    this.repeats--;
    this.thousandths = Math.min(this.full, this.thousandths + ONE);
  }

  /** Called by tokens: `true` when spent, `false` when handed back. */
  resolve(spent: boolean): void {
    this.reserved--;
    if (spent) this.repeats++;
    else this.thousandths = Math.min(this.full, this.thousandths + ONE);
  }
}

/** The right to one repeat. Ends once: spent, or handed back. */
export class Token {
  readonly kind = "token";
  private readonly budget: RetryBudget;
  private open = true;

  constructor(budget: RetryBudget) {
    this.budget = budget;
  }

  /** The repeat is being sent. */
  sent(): void {
    this.end(true);
  }

  /** The repeat will not be sent. Does nothing once it was. */
  cancel(): void {
    this.end(false);
  }

  private end(spent: boolean): void {
    if (!this.open) return;
    this.open = false;
    this.budget.resolve(spent);
  }
}
