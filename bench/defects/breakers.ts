/** Breakers: half-open with a probe that hangs or succeeds, and opening on the first failure. */
import * as cockatiel from "cockatiel";
import CircuitBreaker from "opossum";
import { type BreakerOptions, dependency, fixed, type Operation } from "plimsoll";
import { type Defect, deafWork, fail, type Seen, sleep, watch } from "./defect.ts";

const OPEN_MS = 30;

function cockatielBreaker(): cockatiel.CircuitBreakerPolicy {
  const breaker = new cockatiel.ConsecutiveBreaker(1);
  return cockatiel.circuitBreaker(cockatiel.handleAll, { halfOpenAfter: OPEN_MS, breaker });
}

function plimsollBreaker(more: BreakerOptions = {}): Operation {
  return dependency({ name: "peer" }).operation("call", {
    breaker: { window: { calls: 1 }, openMs: OPEN_MS, reopen: fixed(), probes: 1, ...more },
  });
}

/** Runs work under a breaker. */
type Run = (work: () => Promise<unknown>) => Promise<unknown>;

const atCockatiel = (): Run => {
  const breaker = cockatielBreaker();
  return (work) => breaker.execute(work);
};
const atPlimsoll = (more?: BreakerOptions): Run => {
  const call = plimsollBreaker(more);
  return (work) => call(work);
};

async function opened(run: Run): Promise<void> {
  await run(fail).catch(() => {});
  await sleep(2 * OPEN_MS);
}

/** Callers beside a probe that hangs, and how many of them wait for it. */
async function besideHangingProbe(run: Run): Promise<Seen> {
  await opened(run);
  watch(run(() => new Promise(() => {})));
  const others = [1, 2, 3].map(() => watch(run(() => sleep(1))));
  await sleep(500);
  const value = others.filter(({ settledAfterMs }) => settledAfterMs === null).length;
  return { value, words: `${value} of 3 pending after 500 ms` };
}

/** 100 callers while a probe runs, and how many of them run at once when it has succeeded. */
async function floodGate(run: Run): Promise<Seen> {
  await opened(run);
  const work = deafWork(50);
  await Promise.all(Array.from({ length: 100 }, () => run(work.run).catch(() => {})));
  return { value: work.most, words: `${work.most} ran at once` };
}

async function afterOneFailure(call: () => Promise<unknown>, isOpen: () => boolean): Promise<Seen> {
  await call().catch(() => {});
  return {
    value: isOpen() ? 1 : 0,
    words: isOpen() ? "open after 1 failing call" : "closed after 1 failing call",
  };
}

/** A probe that hangs, 100 open times later: how many of three calls get through. */
async function jammed(run: Run): Promise<Seen> {
  await opened(run);
  watch(run(() => new Promise(() => {})));
  await sleep(100 * OPEN_MS);
  let value = 0;
  for (let i = 0; i < 3; i++) {
    await run(async () => void value++).catch(() => {});
    await sleep(2 * OPEN_MS);
  }
  return { value, words: `${value} of 3 calls got through` };
}

/** opossum calls one function; here it is what each caller brings. */
function atOpossum(): Run {
  const options = { timeout: false, resetTimeout: OPEN_MS } as const;
  const breaker = new CircuitBreaker((work: () => Promise<unknown>) => work(), options);
  return (work) => breaker.fire(work);
}

/** What breakers do. */
export const BREAKERS: readonly Defect[] = [
  {
    tries: "half-open, and the probe hangs: 3 other callers",
    right: "they are refused, not kept waiting",
    peer: "cockatiel",
    holds: (pending) => pending === 0,
    atPeer: () => besideHangingProbe(atCockatiel()),
    atPlimsoll: () => besideHangingProbe(atPlimsoll()),
  },
  {
    tries: "half-open, and 100 callers come while the probe runs",
    right: "as many run as there are probes: 1",
    peer: "cockatiel",
    holds: (atOnce) => atOnce === 1,
    atPeer: () => floodGate(atCockatiel()),
    atPlimsoll: () => floodGate(atPlimsoll()),
  },
  {
    tries: "a breaker with its defaults, and 1 failing call",
    right: "one call is no evidence: it stays closed",
    peer: "opossum",
    holds: (open) => open === 0,
    atPeer: () => {
      const breaker = new CircuitBreaker(fail);
      return afterOneFailure(
        () => breaker.fire(),
        () => breaker.opened,
      ).finally(() => breaker.shutdown());
    },
    atPlimsoll: () => {
      const call = dependency({ name: "peer" }).operation("call", { breaker: {} });
      return afterOneFailure(
        () => call(fail),
        () => call.breaker?.state.name === "open",
      );
    },
  },
  {
    tries: "half-open without a timeout, the probe hangs: 100 open times later",
    right: "another probe is let through, and closes it",
    peer: "opossum",
    holds: (through) => through > 0,
    atPeer: () => jammed(atOpossum()),
    atPlimsoll: () => jammed(atPlimsoll()),
  },
];
