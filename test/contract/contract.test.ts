// The ten laws of the kernel, held by a seeded fuzz against every guard and random stacks of them.
import { describe, expect, it } from "vitest";
import {
  Bulkhead,
  bulkhead,
  type CallProcess,
  EVIDENCE,
  type Guard,
  immediately,
  PLAIN_CALL,
  retry,
  Stack,
} from "../../src/core/index.ts";
import { VirtualRuntime } from "../../src/testing/index.ts";
import { described, failureOf, fuzz } from "./fuzz.ts";
import { isAdmitter } from "./guards.ts";
import { programOf } from "./maker.ts";
import { EVENTS, type GuardSpec, type Program } from "./program.ts";
import { runBoth, runReal, runVirtual, type Verdict } from "./run.ts";

const SEED = 1;
const REFUSERS = [
  "breaker",
  "partialBreaker",
  "adaptiveThrottle",
  "rateLimit",
  "bulkhead",
  "budget",
  "deadline",
  "retry",
  "hedge: the callee has begun",
  "hedge: the dependency has asked for less",
  "hedge: the first attempt is a probe",
  "hedge: the first attempt has not been sent",
];

describe("random programs keep the laws", () => {
  it("20,000 calls through random stacks, the same by both drivers, event for event", {
    timeout: 120_000,
  }, () => {
    const seen = new Map<string, number>();
    const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
    const heard = ({ log }: Verdict): void => {
      for (const line of log) {
        const [, type = ""] = /"type":"([^"]+)"/.exec(line) ?? [];
        count(type);
        const [, ending] = /"ending":"([^"]+)"/.exec(line) ?? [];
        if (ending !== undefined) count(`${type} ${ending}`);
        const [, by, reason] = /"by":"([^"]+)","reason":"([^"]+)"/.exec(line) ?? [];
        if (by !== undefined) count(type === "hedge.stopped" ? `${by}: ${reason}` : by);
      }
    };
    const { failure, calls } = fuzz(SEED, 20_000, { heard });
    if (failure !== null) expect.fail(described(failure));
    expect(calls).toBeGreaterThanOrEqual(20_000);
    // A fuzz that never gets there proves nothing: every event and every ending was met, and not once by luck.
    for (const type of [...EVENTS, "breaker.changed", "breaker.observed"])
      expect(seen.get(type), type).toBeGreaterThan(20);
    // So was every guard that refuses, and every reason not to hedge.
    for (const by of REFUSERS) expect(seen.get(by), by).toBeGreaterThan(10);
    for (const ending of Object.keys(EVIDENCE))
      expect(
        (seen.get(`attempt.answered ${ending}`) ?? 0) + (seen.get(`call.answered ${ending}`) ?? 0),
        ending,
      ).toBeGreaterThan(20);
  });

  const kinds = [
    "retry",
    "hedge",
    "fallback",
    "deadline",
    "coalesce",
    "breaker",
    "breakers",
    "partial",
    "throttle",
    "rate",
    "rates",
    "bulkhead",
    "bulkheads",
    "timeout",
  ] as const satisfies GuardSpec["kind"][];
  it.each(kinds)("%s by itself", (kind) => {
    for (let seed = 1; seed <= 150; seed++) {
      const program = alone(programOf(seed), kind);
      const { breach } = runBoth(program);
      if (breach !== null) expect.fail(described(failureOf(seed, breach, program)));
    }
  });

  it("no guard at all", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const program = programOf(seed);
      const bare = { ...program, stacks: program.stacks.map((stack) => ({ ...stack, guards: [] })) };
      expect(runBoth(bare).breach).toBeNull();
    }
  });

  it("on Node's own clock", { timeout: 60_000 }, async () => {
    const seeds = Array.from({ length: 120 }, (_, index) => 1 + index);
    const verdicts = await Promise.all(seeds.map((seed) => runReal(programOf(seed))));
    const breaches = verdicts.flatMap(({ breach }, index) =>
      breach === null ? [] : [`seed ${seeds[index]}: law ${breach.law}: ${breach.message}`],
    );
    expect(breaches).toEqual([]);
    expect(verdicts.reduce((sum, { calls }) => sum + calls, 0)).toBeGreaterThan(500);
  });

  it("one seed gives one history", () => {
    for (let seed = 1; seed <= 20; seed++)
      expect(runVirtual(programOf(seed), false).log).toEqual(runVirtual(programOf(seed), false).log);
  });
});

/** The same program with one kind of guard left in its stacks, or put in where there is none. */
function alone(program: Program, kind: GuardSpec["kind"]): Program {
  const one = madeFor(program, kind);
  const { seed } = program;
  return {
    ...program,
    bulkheads: [
      {
        limit: 1 + (seed % 3),
        maxBytes: seed % 5 === 0 ? 4 : null,
        maxWaiting: seed % 4,
        maxWaitMs: 8,
        maxWaitingBytes: null,
        reclaimMs: null,
        holds: "subtree",
      },
    ],
    breakers: [
      {
        window: { calls: 2 },
        minimumCalls: 1,
        failureRate: 0.5,
        slowCallMs: null,
        consecutiveFailures: null,
        openMs: 10,
        rampMs: seed % 3 === 0 ? 10 : 0,
        probes: 1 + (seed % 2),
        probeTimeoutMs: null,
        probeLeaseMs: 20,
      },
    ],
    rates: [{ limit: 1 + (seed % 3), windowMs: 20, burst: 2, costly: false }],
    acts: program.acts.filter((act) => "resize" in act),
    stacks: program.stacks.map((stack) => ({
      ...stack,
      idempotent: stack.idempotent || kind === "hedge" || kind === "coalesce",
      guards: [stack.guards.find((guard) => guard.kind === kind && !isAdmitter(guard)) ?? one],
    })),
  };
}

function madeFor({ seed, calls }: Program, kind: GuardSpec["kind"]): GuardSpec {
  const ms = 3 + (seed % 12);
  const keys = { by: "key", maxKeys: 2 + (seed % 3), idleMs: 600_000 } as const;
  if (kind === "retry") return { kind, attempts: 3, waits: [0, ms] };
  if (kind === "hedge")
    return {
      kind,
      delayMs: ms,
      attempts: 2 + (seed % 2),
      quietMs: 10,
      onFailure: "stop",
      tied: seed % 2 === 0,
    };
  if (kind === "coalesce") return { kind, maxWaiting: 1 + (seed % 4), maxFlights: 2, shareFailuresMs: ms };
  if (kind === "deadline" || kind === "timeout") return { kind, ms };
  if (kind === "breaker" || kind === "bulkhead" || kind === "rate") return { kind, of: 0 };
  if (kind === "breakers" || kind === "bulkheads" || kind === "rates") return { kind, of: 0, ...keys };
  if (kind === "partial") return { kind, intervalMs: ms, rise: 1, fall: 0.1 };
  if (kind === "throttle") return { kind, k: 1, windowMs: 60, maxRefused: 0.9, rejects: "failures" };
  const [work] = (calls[0] as Program["calls"][number]).works;
  return {
    kind,
    how: "run",
    reserveMs: 2,
    timeoutMs: ms,
    permanent: false,
    exercise: 0,
    maxAgeMs: 20,
    work: work as NonNullable<typeof work>,
  };
}

describe("law 5: one stack frame, however many", () => {
  const COUNT = 200_000;
  const world = () => {
    const runtime = new VirtualRuntime();
    const make = (guards: readonly Guard[], generators = false) =>
      new Stack(
        {
          runtime,
          generators,
          dependency: "stock",
          operation: "view",
          idempotent: true,
          perform: (attempt, work) => (work as (attempt: unknown) => void)(attempt),
        },
        guards,
      );
    return { runtime, make };
  };

  it.each(["fused", "generators"])(
    "200,000 synchronous retries, one answer starting the next call: %s",
    (driver) => {
      const { make } = world();
      const stack = make([retry({ attempts: 100, backoff: immediately })], driver === "generators");
      let [sent, calls] = [0, 0];
      const work = (attempt: { fail(error: unknown): void }): void => {
        sent++;
        attempt.fail(new Error("no"));
      };
      const next = (): CallProcess | null =>
        ++calls > COUNT / 100 ? null : stack.start(work, PLAIN_CALL, Infinity, { answered: next });
      next();
      expect(sent).toBe(COUNT);
    },
  );

  it("200,000 waiters, each ending at once when its turn comes", () => {
    const { runtime, make } = world();
    const cap = new Bulkhead({ limit: 1, queue: { maxWaiting: COUNT } }, runtime);
    const stack = make([bulkhead(cap)]);
    let ended = 0;
    let first: { succeed(value: unknown): void } | null = null;
    const holds = (attempt: typeof first): void => {
      first = attempt;
    };
    stack.start(holds, PLAIN_CALL, Infinity, null);
    const work = (attempt: { succeed(value: unknown): void }): void => {
      ended++;
      attempt.succeed(1);
    };
    for (let i = 0; i < COUNT; i++) stack.start(work, PLAIN_CALL, Infinity, null);
    expect(cap.waiting).toBe(COUNT);
    (first as { succeed(value: unknown): void } | null)?.succeed(1);
    expect([ended, cap.waiting, cap.gate.held, runtime.pending]).toEqual([COUNT, 0, 0, 0]);
  });

  it("200,000 calls, each started from inside the work of the one before", () => {
    const { make } = world();
    const stack = make([]);
    let depth = 0;
    const work = (attempt: { succeed(value: unknown): void }): void => {
      if (++depth < COUNT) stack.start(work, PLAIN_CALL, Infinity, null);
      attempt.succeed(1);
    };
    stack.start(work, PLAIN_CALL, Infinity, null);
    expect(depth).toBe(COUNT);
  });
});
