import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fault, Lab } from "../../test/lib/lab.ts";
import { DependencyPolicy, fullJitter, type OperationOptions, PLAIN_CALL } from "../core/index.ts";
import { parametersOf } from "./basketly/settings.ts";
import { basketlySystem } from "./basketly/system.ts";
import { explain, worstCase } from "./explain.ts";
import { attemptsAlong } from "./paths.ts";

const system = (setting: string) => {
  const parameters = parametersOf(setting);
  if (parameters === undefined) throw new Error(setting);
  return basketlySystem(parameters);
};

describe("the worst case", () => {
  it("is what the page reckons for shop-api's call to stock: two attempts of 60 ms and 25 ms between (Part 2)", () => {
    const options = { attemptTimeoutMs: 60, retry: { attempts: 2, backoff: fullJitter({ baseMs: 25 }) } };
    expect(worstCase({}, options)).toEqual({ attempts: 2, longestMs: 145, addedLoad: 0.1 });
  });

  it("has no bound where nothing bounds it", () => {
    expect(worstCase({ budget: "none" }, { retry: { attempts: 3 } })).toMatchObject({
      attempts: 3,
      longestMs: Infinity,
      addedLoad: 2,
    });
  });

  it("counts waits for places, hedges, and the fallback's own time", () => {
    const bulkhead = { limit: 1, queue: { maxWaiting: 5, maxWaitMs: 30 } };
    const options = { idempotent: true, attemptTimeoutMs: 100, hedge: { delayMs: 20 }, fallback: () => 1 };
    expect(worstCase({ bulkhead }, options)).toMatchObject({ attempts: 2, longestMs: 100 + 30 + 20 + 100 });
  });

  it("counts a probe's own timeout where that is the longer one", () => {
    const options = { attemptTimeoutMs: 60, breaker: { probeTimeoutMs: 100 } };
    expect(worstCase({}, options)).toMatchObject({ attempts: 1, longestMs: 100 });
  });

  it("is never exceeded, whatever the dependency does", () => {
    const policies = fc.record({
      attemptTimeoutMs: fc.integer({ min: 1, max: 100 }),
      totalTimeoutMs: fc.option(fc.integer({ min: 50, max: 500 }), { nil: undefined }),
      attempts: fc.integer({ min: 1, max: 4 }),
      baseMs: fc.integer({ min: 1, max: 40 }),
      hedgeMs: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
      limit: fc.integer({ min: 1, max: 3 }),
      maxWaitMs: fc.integer({ min: 0, max: 50 }),
    });
    const ends = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 150 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(policies, ends, fc.nat(1_000), (p, script, seed) => {
        const lab = new Lab(seed);
        const shared = {
          budget: "none" as const,
          bulkhead: { limit: p.limit, queue: { maxWaiting: 10, maxWaitMs: p.maxWaitMs } },
        };
        const options: OperationOptions = {
          idempotent: true,
          attemptTimeoutMs: p.attemptTimeoutMs,
          ...(p.totalTimeoutMs !== undefined && { totalTimeoutMs: p.totalTimeoutMs }),
          retry: { attempts: p.attempts, backoff: fullJitter({ baseMs: p.baseMs }) },
          ...(p.hedgeMs !== undefined && { hedge: { delayMs: p.hedgeMs } }),
        };
        const worst = worstCase(shared, options);
        let number = 0;
        const policy = new DependencyPolicy({ name: "stock", ...shared }, lab.runtime, (attempt) => {
          const [fails, ms] = script[number++ % script.length] as [boolean, number];
          if (fails) lab.runtime.after(ms, () => attempt.fail(fault("transient")));
        }).operation("view", options);
        for (let i = 0; i < 3; i++) policy.start(null, PLAIN_CALL, Infinity, null);
        lab.runtime.runToIdle();
        for (const event of lab.events) {
          if (event.type !== "call.answered") continue;
          expect(event.sent).toBeLessThanOrEqual(worst.attempts);
          expect(event.durationMs).toBeLessThanOrEqual(worst.longestMs + 1e-6);
        }
      }),
    );
  });
});

describe("attempts along a path", () => {
  it("are 27 database queries for one cart as shipped, and 4 with the guards (Part 3)", () => {
    const at = (setting: string, functions = {}) =>
      attemptsAlong(system(setting), functions).find(
        (path) => path.action === "cart" && path.at === "database.read",
      )?.attempts;
    expect(at("C0")).toBe(27);
    expect(at("guarded", { fallbacks: { withoutBadges: () => 1 } })).toBe(4);
  });

  it("leave out what an action does not call", () => {
    expect(attemptsAlong(system("C0")).filter((path) => path.action === "product")).toEqual([
      { action: "product", at: "shop-api.product", attempts: 3 },
    ]);
  });
});

describe("an explanation", () => {
  it("has a sentence for every guard, outermost first", () => {
    const { sentences } = explain(
      {
        bulkhead: { limit: 12, queue: { maxWaiting: 5, maxWaitMs: 40 } },
        rateLimit: { limit: 100 },
        adaptiveThrottle: {},
      },
      {
        idempotent: true,
        attemptTimeoutMs: 60,
        totalTimeoutMs: 2_000,
        retry: { attempts: 2, backoff: fullJitter({ baseMs: 25 }) },
        hedge: { delayMs: { percentile: 0.95 } },
        coalesce: { shareFailuresMs: 500 },
        breaker: { window: { calls: 20 }, slowCallMs: 40, consecutiveFailures: 5, rampMs: 1_000, perKey: {} },
        fallback: () => "unknown",
      },
    );
    expect(sentences).toMatchInlineSnapshot(`
      [
        "When all of this was not enough, its fallback function answers (within 100 ms), marked as degraded.",
        "Calls of the same tenant and key share one that is under way; a failure answers them for 500 ms more.",
        "A call makes up to 4 attempts, each given up after 60 ms, all of it bounded by 2 s; answered within 445 ms.",
        "A further attempt is sent beside a slow one after what 95 % of attempts take (after 100 were seen).",
        "Before its repeats it waits at most 25 ms.",
        "Any attempt that failed in passing may be repeated: it is idempotent.",
        "Its repeats add at most 10 % to the dependency's load, and a burst of 10.",
        "The breaker of each key opens when 50 % of the last 20 calls failed (of 20 at least), or 100 % took 40 ms or longer, or 5 failed in a row: after 5 calls, when all fail.",
        "It stays open for 5 s to 6 s the first time and 72 s at most, then 3 probes have to pass, and lets everything through 1 s after it has closed.",
        "When the dependency refuses more than it accepts, about 2 times what it accepted in the last 120 s is sent, and never less than 5 %.",
        "At most 100 per 1 s start, 100 of them at once.",
        "At most 12 in flight, for all operations together; 5 more wait, each 40 ms at most.",
      ]
    `);
  });

  it("says what it does not know: how long the dependency may ask to wait", () => {
    const retry = { attempts: 2, backoff: fullJitter({ baseMs: 25 }) };
    expect(explain({}, { attemptTimeoutMs: 60, retry }).sentences[0]).toBe(
      "A call makes up to 2 attempts, each given up after 60 ms; answered within 145 ms, and what it is asked to wait.",
    );
    expect(explain({}, {}).sentences[0]).toBe(
      "A call makes one attempt with no timeout of its own; nothing bounds it.",
    );
  });

  it("refuses what the guards refuse", () => {
    expect(() => explain({}, { breaker: { failureRate: 2 } })).toThrow("breaker.failureRate");
  });
});
