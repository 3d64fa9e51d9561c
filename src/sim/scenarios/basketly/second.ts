/** What is counted in each second of a Basketly run, and the mean of many seconds. */

/** Refusals by the guard that refused. */
export interface Refused {
  /** At stock's door. */
  admission: number;
  /** By stock, because they had waited too long. */
  age: number;
  breaker: number;
  bulkhead: number;
  /** Retries that the budget did not allow. */
  budget: number;
}

/**
 * One second. An action and its fate count in the second of its arrival, everything else in the second in which it
 * happens, goodput too: an action that arrives in second 18 and is answered in second 21, by its third attempt, does
 * not make second 18 a good one. `queued` and what follows it are gauges at the second's start.
 */
export interface Second {
  /** Seconds after 20:00:00. */
  readonly at: number;
  offered: number;
  product: number;
  /** Cart views answered in full. */
  cart: number;
  /** Cart views answered without badges. */
  cartDegraded: number;
  checkout: number;
  failed: number;
  /** Full answers given: product pages, carts and checkouts. */
  goodput: number;
  appAttempts: number;
  /** Attempts that shop-api sent to stock, and among them the repeats. */
  stockCalls: number;
  retries: number;
  /** Attempts at stock whose time was over: shop-api gave them up, or stock said so first. */
  timeouts: number;
  readonly refused: Refused;
  /** Queries finished while somebody waited for them, and while nobody did. */
  dbUseful: number;
  dbForNobody: number;
  /** Checkouts committed a second time, and all commits beyond the first. */
  duplicatedCheckouts: number;
  extraCommits: number;
  /** Requests that wait for a place in shop-api. */
  queued: number;
  /** Places of shop-api that are held. */
  busy: number;
  /** Calls inside stock, waiting ones included. */
  insideStock: number;
  waitingForConnection: number;
}

/** An empty second. */
export function newSecond(at: number): Second {
  return {
    at,
    offered: 0,
    product: 0,
    cart: 0,
    cartDegraded: 0,
    checkout: 0,
    failed: 0,
    goodput: 0,
    appAttempts: 0,
    stockCalls: 0,
    retries: 0,
    timeouts: 0,
    refused: { admission: 0, age: 0, breaker: 0, bulkhead: 0, budget: 0 },
    dbUseful: 0,
    dbForNobody: 0,
    duplicatedCheckouts: 0,
    extraCommits: 0,
    queued: 0,
    busy: 0,
    insideStock: 0,
    waitingForConnection: 0,
  };
}

/** A second's figures as means over several; without `at`. */
export type MeanSecond = Omit<Second, "at">;

/** The means of these seconds. */
export function meanOf(seconds: readonly Second[]): MeanSecond {
  const { at: _, refused, ...rest } = newSecond(0);
  const mean = (of: (second: Second) => number) =>
    seconds.reduce((sum, second) => sum + of(second), 0) / Math.max(1, seconds.length);
  const numbers = rest as Record<string, number>;
  for (const name of Object.keys(numbers)) {
    numbers[name] = mean((second) => (second as unknown as Record<string, number>)[name] as number);
  }
  for (const name of Object.keys(refused) as (keyof Refused)[]) {
    refused[name] = mean((second) => second.refused[name]);
  }
  return { ...rest, refused };
}

/** The share of offered actions that must be answered in full for a second to count as well. */
const WELL = 0.95;

/**
 * The first second, from 0 on, from which goodput is at least 95% of what was offered in every second to the end;
 * null if there is none.
 */
export function recoveredAt(seconds: readonly Second[]): number | null {
  let recovered: number | null = null;
  for (let index = seconds.length - 1; index >= 0; index--) {
    const second = seconds[index] as Second;
    if (second.at < 0 || second.goodput < WELL * second.offered) break;
    recovered = second.at;
  }
  return recovered;
}
