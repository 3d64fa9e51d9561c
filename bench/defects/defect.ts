/** What a defect is here: one scenario, run against a peer as it ships and against the nearest policy of Plimsoll. */

/** What one library did: a number to judge, and the words for the table. */
export interface Seen {
  readonly value: number;
  readonly words: string;
}

/** A defect that was measured at a peer. */
export interface Defect {
  /** What is tried. */
  readonly tries: string;
  /** What would be right. */
  readonly right: string;
  /** The peer's package, or a name of the platform's. */
  readonly peer: string;
  /** Whether what was seen is right. The same question to both. */
  holds(value: number): boolean;
  atPeer(): Promise<Seen>;
  atPlimsoll(): Promise<Seen>;
}

/** Waits, in real time. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** Whether a promise has settled by now, and when it does, in ms from here. Its rejection is heard. */
export function watch(promise: Promise<unknown>): {
  settledAfterMs: number | null;
  readonly end: Promise<void>;
} {
  const from = performance.now();
  const watched = { settledAfterMs: null as number | null, end: Promise.resolve() };
  const settled = (): void => {
    watched.settledAfterMs = Math.round(performance.now() - from);
  };
  watched.end = promise.then(settled, settled);
  return watched;
}

/** Work that hears no signal, and how much of it ran at once. */
export function deafWork(ms: number): { readonly most: number; run(): Promise<void> } {
  let running = 0;
  const work = {
    most: 0,
    async run() {
      work.most = Math.max(work.most, ++running);
      await sleep(ms);
      running--;
    },
  };
  return work;
}

/** Work that fails. */
export async function fail(): Promise<never> {
  throw new Error("the dependency failed");
}

/** The largest number of points in time within any `widthMs`. */
export function crowd(times: readonly number[], widthMs: number): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + widthMs).length));
}
