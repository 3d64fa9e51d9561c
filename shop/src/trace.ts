/**
 * One action, followed through all hops. Each hop notes what was left of the time when the request arrived, when it
 * sent something on, and what it sent along. What is sent is counted anew from its arrival, so that the time left
 * falls at every hop by what passed there, and by the margin.
 */

/** Something that a hop noted about an action that is followed. */
export interface Step {
  /** The action, as `cart 1234`. */
  readonly trace: string;
  /** Ms after the run's zero, by the wall clock that all processes share. */
  readonly atMs: number;
  readonly hop: "app" | "shop-api" | "prices" | "stock" | "database";
  readonly what: "arrived" | "sent" | "ended";
  /** Of an attempt: to whom, and which one it is. */
  readonly to?: string;
  readonly attempt?: number;
  /** What was left, ms; `Infinity` when nothing was said, or nothing bounds it. */
  readonly leftMs: number;
  readonly note?: string;
}

/** What a process notes. Written down only for actions that are followed. */
export class Notes {
  readonly steps: Step[] = [];
  zeroAtMs = 0;

  /** Notes a step of `trace`, if that is followed. `at` is on the clock of `performance.now()`. */
  add(trace: string | undefined, step: Omit<Step, "trace" | "atMs">, at: number = performance.now()): void {
    if (trace === undefined) return;
    this.steps.push({ trace, atMs: performance.timeOrigin + at - this.zeroAtMs, ...step });
  }
}

/** One action with all that was noted of it, in order of time. */
export interface Trace {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Hops in the order in which a request meets them. */
const DEPTH: Readonly<Record<Step["hop"], number>> = {
  app: 0,
  "shop-api": 1,
  prices: 2,
  stock: 2,
  database: 3,
};

/** The steps by action. */
export function tracesOf(steps: readonly Step[]): Trace[] {
  const byName = new Map<string, Step[]>();
  for (const step of steps) byName.set(step.trace, [...(byName.get(step.trace) ?? []), step]);
  return [...byName].map(([name, own]) => ({
    name,
    // At one instant the outer hop comes first.
    steps: own.sort((a, b) => a.atMs - b.atMs || DEPTH[a.hop] - DEPTH[b.hop]),
  }));
}

/** Of these, the first that got as far as any: in a hiccup most end before the database. */
export function deepest(traces: readonly Trace[]): Trace | undefined {
  const depth = ({ steps }: Trace): number =>
    Math.max(...steps.map(({ hop }) => (hop === "database" ? DEPTH.database : DEPTH[hop])));
  const deep = Math.max(...traces.map(depth));
  return traces.find((trace) => depth(trace) === deep);
}

/** A way that the time left fell where it must: from an arrival to a send, or from a send to the next arrival. */
export interface Fall {
  readonly from: Step;
  readonly to: Step;
  /** How much passed between the two, ms. */
  readonly elapsedMs: number;
  /** How much less was left, ms. */
  readonly fellMs: number;
}

/**
 * How the time left fell along a trace: in each hop between a request's arrival and what was sent for it, and on the
 * wire between what was left to the sender and what the callee was told.
 */
export function fallsOf({ steps }: Trace): Fall[] {
  const falls: Fall[] = [];
  for (const [index, step] of steps.entries()) {
    if (step.what === "ended" || !Number.isFinite(step.leftMs)) continue;
    const before = steps.slice(0, index).reverse();
    const from =
      step.what === "sent"
        ? before.find((each) => each.what === "arrived" && each.hop === step.hop)
        : before.find((each) => each.what === "sent" && each.to === step.hop);
    if (from === undefined || !Number.isFinite(from.leftMs)) continue;
    falls.push({ from, to: step, elapsedMs: step.atMs - from.atMs, fellMs: from.leftMs - step.leftMs });
  }
  return falls;
}

/** Clocks of two processes agree this well, ms; and steps are noted a little after they were taken. */
const CLOCKS_MS = 1;

/** PostgreSQL's shortest limit that is one: 0 would be none. */
const LEAST_MS = 1;

/** What is wrong with how the time left fell: in a hop by what passed at least, on the wire by the margin at least. */
export function wrongFalls(trace: Trace, marginMs: number): string[] {
  return fallsOf(trace).flatMap(({ from, to, elapsedMs, fellMs }) => {
    const told = to.hop === "database" ? Math.min(marginMs, from.leftMs - LEAST_MS) : marginMs;
    const least = to.what === "sent" ? elapsedMs - CLOCKS_MS : told;
    if (fellMs >= least - 1e-6) return [];
    const way = to.what === "sent" ? `in ${to.hop}` : `from ${from.hop} to ${to.hop}`;
    return [
      `${trace.name}: ${way} the time left fell by ${fellMs.toFixed(1)} ms, not by ${least.toFixed(1)}`,
    ];
  });
}
