/**
 * What repeats of calls to one dependency may cost, whatever the rule: the books that all rules keep, and the token.
 *
 * A repeat is *reserved* when it is decided on, before its backoff, so that waiting repeats count; it is spent when it
 * is sent, and handed back if it never is. Retries and hedges draw from the same books. What a reservation costs, and
 * what earns it, is the rule's: `machine.ts` has the library's own, `presets.ts` those of gRPC, AWS, Envoy and Finagle.
 */
import { type Exit, type Failed, type Rejected, rejected } from "../call.ts";

/** What a repeat is, for the books. */
export type RepeatKind = "retry" | "hedge";

const EMPTY: Rejected = rejected("budget", "empty");

/** A bound on repeats, shared by everything that repeats calls to one dependency. */
export abstract class Budget {
  /** First attempts that reached the work, and repeats sent, since the start. Their quotient is the measured ratio. */
  firsts = 0;
  repeats = 0;
  /** Repeats decided on that are neither sent nor given up yet. */
  reserved = 0;

  /** Tokens left, as the rule counts them. */
  abstract readonly level: number;

  /** Whether the rule looks at what is in flight: then it has to hear how every attempt ended. */
  get countsInFlight(): boolean {
    return false;
  }

  /** Repeats sent per first attempt sent, since the start; 0 before the first. */
  get measuredRatio(): number {
    return this.firsts === 0 ? 0 : this.repeats / this.firsts;
  }

  /** Sets aside what a repeat costs that has been decided on at `now`, after `because`; or refuses. */
  reserve(_kind: RepeatKind, now: number, because: Failed | null): Token | Rejected {
    const cost = this.take(now, because);
    if (cost === null) return EMPTY;
    this.reserved++;
    return new Token(this, cost);
  }

  /** A first attempt was sent. */
  firstSent(now: number): void {
    this.firsts++;
    this.earn(now);
  }

  /** An attempt was answered; `token` is what it spent, null for a first attempt. */
  settled(exit: Exit, token: Token | null): void {
    // A repeat whose connection failed was not sent after all.
    if (token !== null && exit.kind === "failed" && exit.ended === "unsent") {
      this.repeats--;
      this.giveBack(token.cost);
    }
  }

  /** Called by tokens: the repeat is sent, or will not be. */
  resolve(token: Token, sent: boolean, now: number): void {
    this.reserved--;
    if (sent) {
      this.repeats++;
      this.spend(now);
    } else this.giveBack(token.cost);
  }

  /** Takes what a repeat costs and says how much, or null where it cannot be had. */
  protected abstract take(now: number, because: Failed | null): number | null;
  /** What was taken was not used. */
  protected abstract giveBack(cost: number): void;
  /** A first attempt was sent. */
  protected earn(_now: number): void {}
  /** A repeat was sent. */
  protected spend(_now: number): void {}
}

/** The right to one repeat. Ends once: spent, or handed back. */
export class Token {
  readonly kind = "token";
  /** What was set aside for it, as the rule counts. */
  readonly cost: number;
  private readonly budget: Budget;
  private open = true;

  constructor(budget: Budget, cost: number) {
    this.budget = budget;
    this.cost = cost;
  }

  /** The repeat is being sent at `now`. */
  sent(now = 0): void {
    this.end(true, now);
  }

  /** The repeat will not be sent. Does nothing once it was. */
  cancel(): void {
    this.end(false, 0);
  }

  private end(sent: boolean, now: number): void {
    if (!this.open) return;
    this.open = false;
    this.budget.resolve(this, sent, now);
  }
}
