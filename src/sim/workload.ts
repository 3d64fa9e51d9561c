/**
 * The workload: users who act at random (Poisson) whatever the system does about it, each kind of action from a
 * stream of randomness of its own. A user's action is one guarded call; its guards are those of the edge from the
 * users' side.
 */
import type { Exit } from "../core/call.ts";
import type { Answer } from "../core/progress.ts";
import type { Random } from "../core/random.ts";
import type { Runtime } from "../core/runtime.ts";
import { Ticker, type Ticking } from "./clock.ts";
import { exponential } from "./exact.ts";
import type { Exchange, Origin } from "./exchange.ts";
import type { Target } from "./link.ts";

/** Hears the life of actions. */
export interface ActionTap {
  /** An action was to begin now. What it returns is kept with the action, for `ended`. */
  arrived(action: Action): void;
  /** It was answered, or refused at the door (null). */
  ended(action: Action, exit: Exit | null): void;
}

/** One thing that a user does. */
export class Action implements Origin, Answer {
  /** Its kind, as an index of the workload's actions. */
  readonly kind: number;
  readonly target: Target;
  readonly arrivedAt: number;
  /** How often its effect was committed. */
  commits = 0;
  private readonly tap: ActionTap;

  constructor(kind: number, target: Target, arrivedAt: number, tap: ActionTap) {
    this.kind = kind;
    this.target = target;
    this.arrivedAt = arrivedAt;
    this.tap = tap;
  }

  get action(): Action {
    return this;
  }

  get exchange(): Exchange | null {
    return null;
  }

  answered(exit: Exit): void {
    this.tap.ended(this, exit);
  }
}

/** Users of one kind. */
export class Arrivals implements Ticking {
  private readonly runtime: Runtime;
  private readonly kind: number;
  private readonly target: Target;
  private readonly tap: ActionTap;
  private readonly gaps: Random;
  private readonly sheds: Random;
  private readonly ticker: Ticker;
  private meanGapMs = Infinity;
  /** The share that is turned away before anything is asked of the system. */
  shed = 0;

  constructor(runtime: Runtime, name: string, kind: number, target: Target, tap: ActionTap) {
    this.runtime = runtime;
    this.kind = kind;
    this.target = target;
    this.tap = tap;
    this.gaps = runtime.random.fork(`arrivals of ${name}`);
    this.sheds = runtime.random.fork(`shed ${name}`);
    this.ticker = new Ticker(runtime, this);
  }

  /** Changes the rate; the time to the next arrival is drawn anew, as a memoryless process allows. */
  rate(perSecond: number): void {
    const meanGapMs = perSecond > 0 ? 1000 / perSecond : Infinity;
    if (meanGapMs === this.meanGapMs) return;
    this.meanGapMs = meanGapMs;
    this.ticker.stop();
    if (meanGapMs < Infinity) this.next();
  }

  tick(): void {
    this.next();
    this.act();
  }

  /** One action, now. */
  act(): void {
    const action = new Action(this.kind, this.target, this.runtime.now(), this.tap);
    this.tap.arrived(action);
    if (this.shed > 0 && this.sheds.next() < this.shed) this.tap.ended(action, null);
    else this.target.call(action, Infinity, action);
  }

  private next(): void {
    this.ticker.start(exponential(this.meanGapMs, this.gaps));
  }
}
