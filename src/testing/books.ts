/**
 * The books of a test: what was sent, repeated, given up and answered, counted from events alone and compared with what
 * the guards say of themselves. Two countings that agree are worth more than one.
 *
 * Held at any instant: a call is answered once, an attempt too; repeats sent and reserved ≤ burst + ratio × first
 * attempts sent; no more places are held than there are, and one for each attempt that runs. Held at rest, too: every
 * call has its answer, no place or token is held, nobody waits, nothing is abandoned, no timer is armed.
 */
import type { Budget } from "../core/budget/budget.ts";
import { ONE, RetryBudget } from "../core/budget/machine.ts";
import type { Bulkhead } from "../core/bulkhead/guard.ts";
import type { KeyedBulkheads } from "../core/bulkhead/keyed.ts";
import type { AttemptKind } from "../core/call.ts";
import type { PlimsollEvent } from "../core/events.ts";
import type { Runtime } from "../core/runtime.ts";

/** A runtime that says how many timers are armed: a `VirtualRuntime`, a `NodeRuntime`. */
export type CountingRuntime = Runtime & { readonly pending: number };

/** What is looked at: what `dependency(…)` gives. */
export interface Bookkept {
  readonly name: string;
  readonly bulkhead: Bulkhead | null;
  readonly bulkheads?: KeyedBulkheads | null;
  readonly budget: Budget | null;
}

/** What has been counted of one dependency. */
export interface Account {
  /** First attempts sent. */
  readonly firsts: number;
  /** Further attempts sent: retries and hedges. One whose connection failed was not sent after all. */
  readonly repeats: number;
  /** Attempts under way: not answered, or given up and not ended. An answer's open body is not seen here. */
  readonly running: number;
  /** The most that were under way at once. */
  readonly mostAtOnce: number;
  /** Attempts, fallbacks too, that were given up and have not ended. */
  readonly abandoned: number;
  /** Calls that were answered. */
  readonly answered: number;
}

class Counts implements Account {
  firsts = 0;
  repeats = 0;
  running = 0;
  mostAtOnce = 0;
  abandoned = 0;
  answered = 0;
  /** The highest limit that was seen: one that learns is lowered while places are held. */
  highestLimit = 0;

  run(change: 1 | -1): void {
    this.running += change;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.running);
  }
}

/** One call: how many of its attempts came so far, and how often it was answered. */
class Tally {
  readonly title: string;
  answers = 0;
  sent = 0;
  answered = 0;
  abandoned = 0;
  ended = 0;
  /** Whether its fallback was given up and goes on. */
  fallbackLeft = false;
  lastAnswered: AttemptKind = "original";

  constructor(title: string) {
    this.title = title;
  }

  /** What cannot be so, or null. */
  get breach(): string | null {
    const { title, answers, sent, answered, abandoned, ended } = this;
    if (answers > 1) return `${title} was answered ${answers} times`;
    if (answered > sent) return `${title}: ${answered} attempts answered, of ${sent} sent`;
    if (abandoned > answered) return `${title}: ${abandoned} attempts abandoned, of ${answered} answered`;
    return ended > abandoned ? `${title}: ${ended} attempts ended, of ${abandoned} abandoned` : null;
  }
}

/** Counts what happens on a runtime. Open them before the first call. */
export class Books {
  /** Stops counting. */
  readonly close: () => void;
  private readonly runtime: CountingRuntime;
  private readonly dependencies: readonly Bookkept[];
  private readonly accounts: Map<string, Counts> = new Map();
  private readonly calls: Map<number, Tally> = new Map();

  constructor(runtime: CountingRuntime, dependencies: readonly Bookkept[]) {
    this.runtime = runtime;
    this.dependencies = dependencies;
    this.noteLimits();
    this.close = runtime.listen((event) => this.hear(event));
  }

  /** What has been counted of a dependency so far. */
  of(name: string): Account {
    return this.account(name);
  }

  /**
   * Throws an `Error` that lists whatever does not hold now. Ask between the turns of the code, not in a listener, a
   * judge or a fallback: events are told after what they tell of.
   */
  check(): void {
    balance(this.breaches());
  }

  /** The same when everything should be over: throws for whatever goes on or is held, too. */
  checkAtRest(): void {
    const { pending } = this.runtime;
    balance([
      ...this.breaches(),
      ...[...this.calls.values()].flatMap(({ title, answers }) =>
        answers === 0 ? [`${title} has no answer`] : [],
      ),
      ...[...this.accounts].flatMap(([name, { abandoned }]) =>
        counted(abandoned, `attempts of ${name} were given up and still run`),
      ),
      ...this.dependencies.flatMap(leftOf),
      ...counted(pending, "timers are armed"),
    ]);
  }

  private breaches(): string[] {
    const told = [...this.calls.values()].flatMap(({ breach }) => breach ?? []);
    return [...told, ...this.dependencies.flatMap((each) => unbalanced(each, this.account(each.name)))];
  }

  private account(name: string): Counts {
    let account = this.accounts.get(name);
    if (account === undefined) {
      account = new Counts();
      this.accounts.set(name, account);
    }
    return account;
  }

  private noteLimits(): void {
    for (const { name, bulkhead } of this.dependencies) {
      const account = this.account(name);
      account.highestLimit = Math.max(account.highestLimit, bulkhead?.gate.limit ?? 0);
    }
  }

  private hear(event: PlimsollEvent): void {
    this.noteLimits();
    const { call, dependency, operation } = event;
    // An event of no single call, or of one that began before anybody listened.
    if (call === 0) return;
    let tally = this.calls.get(call);
    if (tally === undefined) {
      tally = new Tally(`call ${call} of ${dependency}.${operation}`);
      this.calls.set(call, tally);
    }
    count(event, this.account(dependency), tally);
  }
}

function count(event: PlimsollEvent, account: Counts, tally: Tally): void {
  if (event.type === "call.answered") {
    tally.answers++;
    account.answered++;
  } else if (event.type === "attempt.sent") {
    tally.sent++;
    if (event.kind === "fallback") return; // it sends nothing to the dependency, and takes no place
    account.run(1);
    if (event.attempt > 1 || event.kind === "hedge") account.repeats++;
    else account.firsts++;
  } else if (event.type === "attempt.answered") {
    tally.answered++;
    tally.lastAnswered = event.kind;
    if (event.kind === "fallback") return;
    account.run(-1);
    if (event.ending === "unsent" && (event.attempt > 1 || event.kind === "hedge")) account.repeats--;
  } else if (event.type === "attempt.abandoned") {
    tally.abandoned++;
    account.abandoned++;
    if (tally.lastAnswered === "fallback") tally.fallbackLeft = true;
    else account.run(1);
  } else if (event.type === "attempt.ended") {
    tally.ended++;
    account.abandoned--;
    // Nobody says whose end it is: while both go on, the attempt's, so that no place is missed that is not missing.
    if (tally.fallbackLeft && tally.abandoned === tally.ended) tally.fallbackLeft = false;
    else account.run(-1);
  }
}

function unbalanced(bookkept: Bookkept, account: Counts): string[] {
  const { name, bulkhead, budget } = bookkept;
  const { firsts, repeats, running, abandoned, highestLimit } = account;
  const found: string[] = [];
  if (budget instanceof RetryBudget) {
    const allowed = budget.burst + (Math.round(budget.ratio * ONE) * firsts) / ONE;
    if (repeats + budget.reserved > allowed)
      found.push(`${name}: ${repeats} repeats sent and ${budget.reserved} reserved, of ${allowed} allowed`);
  }
  const caps = capsOf(bookkept);
  const held = heldOf(caps);
  if (bulkhead !== null && held > highestLimit)
    found.push(`${name}: ${held} places held, of ${highestLimit}`);
  // A place that follows the attempt's own work alone may be free while calls within it go on.
  const least = caps.some(({ holds }) => holds === "handler") ? running - abandoned : running;
  if (caps.length > 0 && held < least) found.push(`${name}: ${held} places held, and ${least} attempts run`);
  return found;
}

/** The one cap, or those of all keys. */
function capsOf({ bulkhead, bulkheads }: Bookkept): readonly Bulkhead[] {
  if (bulkhead !== null) return [bulkhead];
  return bulkheads == null ? [] : [...bulkheads.keys.entries()].map(([, cap]) => cap);
}

function heldOf(caps: readonly Bulkhead[]): number {
  return caps.reduce((sum, { gate }) => sum + gate.held, 0);
}

/** What a dependency still holds. */
function leftOf(bookkept: Bookkept): string[] {
  const { name, budget } = bookkept;
  const caps = capsOf(bookkept);
  const waiting = caps.reduce((sum, cap) => sum + cap.waiting, 0);
  return [
    ...counted(heldOf(caps), `places of ${name} are held`),
    ...counted(waiting, `calls wait for a place of ${name}`),
    ...counted(budget?.reserved ?? 0, `tokens of ${name} are reserved`),
  ];
}

function counted(many: number, what: string): string[] {
  return many === 0 ? [] : [`${many} ${what}`];
}

function balance(breaches: readonly string[]): void {
  if (breaches.length > 0) throw new Error(`the books do not balance: ${breaches.join("; ")}`);
}

/**
 * Opens books on all that happens on a runtime from now on. `dependencies` are compared with what is counted; of the
 * others only what is told is.
 */
export function keepBooks(runtime: CountingRuntime, dependencies: readonly Bookkept[] = []): Books {
  return new Books(runtime, dependencies);
}
