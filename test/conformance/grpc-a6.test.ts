// gRPC proposal A6 ("gRPC Retry Design"), row by row, as a service config sets it. Each row names the section of the
// proposal that it is from. What is the client library's own is not here: buffers, commitment, transparent retries.
import { describe, expect, it } from "vitest";
import {
  type Attempt,
  type Budget,
  type CallFields,
  DependencyPolicy,
  GRPC_STATUS,
  grpcPreviousAttempts,
  grpcServiceConfig,
  type OperationPolicy,
} from "../../src/core/index.ts";
import { Lab, only, type Script, type Started } from "../lib/lab.ts";

const [INVALID, ABORTED, INTERNAL, UNAVAILABLE] = [3, 10, 13, 14];

const RETRY = {
  maxAttempts: 4,
  initialBackoff: "0.3s",
  maxBackoff: "1s",
  backoffMultiplier: 2,
  retryableStatusCodes: ["UNAVAILABLE"],
};
const HEDGE = { maxAttempts: 4, hedgingDelay: "0.5s", nonFatalStatusCodes: ["UNAVAILABLE", "INTERNAL"] };

/** A server's client, in a world of its own. */
class World extends Lab {
  readonly method: OperationPolicy;
  readonly budget: Budget | null;

  constructor(method: object, more: object = {}, seed = 1) {
    super(seed);
    const config = grpcServiceConfig({ methodConfig: [{ name: [{}], ...method }], ...more });
    const perform = (attempt: Attempt, work: unknown): void => (work as Script)(attempt);
    const server = new DependencyPolicy({ name: "stock", budget: config.budget }, this.runtime, perform);
    this.budget = server.budget;
    this.method = server.operation("View", config.operation("shop.Stock", "View"));
  }

  /** Makes a call and lets time pass until nothing is left to happen. */
  call(
    scripts: Script | readonly Script[],
    within: { withinMs?: number; fields?: CallFields } = {},
  ): Started {
    const started = this.start(this.method, scripts, within);
    this.runtime.runToIdle();
    return started;
  }

  /** The status of a server, with a pushback in its trailers. */
  status(code: number, { ms, pushback }: { ms?: number; pushback?: string } = {}): Script {
    const metadata = { get: () => (pushback === undefined ? [] : [pushback]) };
    return this.throws(Object.assign(new Error(`status ${code}`), { code, metadata }), ms);
  }
}

/** When attempts were sent, in ms from the first. */
const sentAt = ({ sent }: Started): number[] => sent.map((each) => each.sentAt - (sent[0]?.sentAt ?? 0));
const gaps = (call: Started): number[] =>
  sentAt(call).flatMap((at, n, all) => (n === 0 ? [] : [at - all[n - 1]!]));
const retrying = (policy: object = {}, more: object = {}, seed = 1): World =>
  new World({ retryPolicy: { ...RETRY, ...policy } }, more, seed);
const hedging = (policy: object = {}, more: object = {}): World =>
  new World({ hedgingPolicy: { ...HEDGE, ...policy } }, more);
const codeOf = (call: Started): unknown => (only(call, "failed").error as { code?: number }).code;

describe("retryPolicy", () => {
  it("Exponential Backoff: the n-th retry waits min(initial × multiplier^(n − 1), max), give or take a fifth", () => {
    const waits = Array.from({ length: 200 }, (_, seed) => {
      const world = retrying({}, {}, seed);
      return gaps(world.call(world.status(UNAVAILABLE)));
    });
    for (const [n, from, to] of [
      [0, 240, 360],
      [1, 480, 720],
      [2, 800, 1_200],
    ] as const) {
      const nth = waits.map((each) => each[n] as number);
      const [least, most, width] = [Math.min(...nth), Math.max(...nth), to - from];
      expect([least >= from, least < from + width / 10, most <= to, most > to - width / 10]).toEqual(
        Array(4).fill(true),
      );
    }
  });

  it.each([
    [2, 2],
    [4, 4],
    [5, 5],
    [6, 5],
    [1_000_000, 5],
  ])("Limits on Retries and Hedges: maxAttempts %i sends %i, the original included", (maxAttempts, sent) => {
    for (const world of [retrying({ maxAttempts }), hedging({ maxAttempts })]) {
      const call = world.call(world.status(UNAVAILABLE));
      expect([call.sent.length, codeOf(call)]).toEqual([sent, UNAVAILABLE]);
    }
  });

  it.each([...GRPC_STATUS.keys()])(
    "Retryable Status Codes: status %i is retried if, and only if, it is listed",
    (code) => {
      const others = [...GRPC_STATUS.keys()].filter((other) => other !== code);
      for (const [retryableStatusCodes, sent] of [
        [[code], 4],
        [others, 1],
      ] as const) {
        const world = retrying({ retryableStatusCodes });
        const call = world.call(world.status(code));
        expect([call.sent.length, codeOf(call)]).toEqual([sent, code]);
      }
    },
  );

  it("Retryable Status Codes: the list stands for what the owner knows, a method's idempotence included", () => {
    const world = retrying({ retryableStatusCodes: ["INTERNAL"] });
    const call = world.call([world.status(INTERNAL), world.gives("done")]);
    expect([only(call, "ok").value, call.sent.length]).toEqual(["done", 2]);
  });

  it("Maximum Number of Retries: the deadline, or the method's timeout, spans all attempts", () => {
    const world = retrying();
    const call = world.call(world.status(UNAVAILABLE), { withinMs: 800 });
    expect([call.sent.length <= 3, call.answeredAt < 800, codeOf(call)]).toEqual([true, true, UNAVAILABLE]);
    const timed = new World({ timeout: "0.7s", retryPolicy: RETRY });
    const hung = timed.call([timed.status(UNAVAILABLE, { ms: 300 }), timed.hangs]);
    expect([hung.sent.length, only(hung, "failed").ended, hung.answeredAt]).toEqual([2, "clipped", 700]);
  });
});

describe("Pushback, to a retry", () => {
  it("waits exactly as long as it says, and then begins the backoff anew", () => {
    for (let seed = 0; seed < 50; seed++) {
      const world = retrying({ maxAttempts: 5 }, {}, seed);
      const [plain, told] = [world.status(UNAVAILABLE), world.status(UNAVAILABLE, { pushback: "70" })];
      const [first, second, third, fourth] = gaps(world.call([plain, plain, told, plain, plain])) as number[];
      expect(third).toBe(70);
      expect([first! >= 240 && first! <= 360, second! >= 480 && second! <= 720]).toEqual([true, true]);
      expect(fourth! >= 240 && fourth! <= 360).toBe(true);
    }
  });

  it.each([
    "-1",
    "-2147483648",
    "abc",
    "",
    "1e3",
    "50x",
    "007",
    "+5",
    " 5",
    "1.5",
    "2147483648",
    "99999999999",
  ])("%j, negative or not to be read, means not at all", (pushback) => {
    const world = retrying();
    const call = world.call(world.status(UNAVAILABLE, { pushback }));
    expect([call.sent.length, codeOf(call)]).toEqual([1, UNAVAILABLE]);
  });

  it("stands neither above maxAttempts nor above the list of statuses", () => {
    const world = retrying();
    const told = { pushback: "1" };
    expect(world.call(world.status(UNAVAILABLE, told)).sent.length).toBe(4);
    expect(world.call(world.status(INTERNAL, told)).sent.length).toBe(1);
  });
});

describe("Throttling Retry Attempts and Hedged RPCs", () => {
  const throttled = { retryThrottling: { maxTokens: 10, tokenRatio: 0.1 } };

  it("retries while more than half of the tokens are left; each failure costs one, a success earns tokenRatio", () => {
    const world = retrying({}, throttled);
    expect(world.call(world.status(UNAVAILABLE)).sent.length).toBe(4);
    expect(world.budget?.level).toBe(6);
    // The fifth failure leaves half of them, which is not more than half: this one fails now, and waits for nothing.
    const stopped = world.call(world.status(UNAVAILABLE));
    expect([stopped.sent.length, world.budget?.level, only(stopped, "failed").stoppedBy?.by]).toEqual([
      1,
      5,
      "budget",
    ]);
    world.call(world.gives("done"));
    expect(world.budget?.level).toBe(5.1);
    world.call(world.status(INVALID));
    expect(world.budget?.level).toBe(5.1);
    for (let i = 0; i < 10; i++) world.call(world.gives("done"));
    expect(world.budget?.level).toBe(6.1);
    expect(world.call(world.status(UNAVAILABLE)).sent.length).toBe(2);
    for (let i = 0; i < 90; i++) world.call(world.gives("done"));
    expect(world.budget?.level).toBe(10);
  });

  it("never holds back a first attempt, nor falls below zero", () => {
    const world = retrying({}, throttled);
    const calls = Array.from({ length: 30 }, () => world.call(world.status(UNAVAILABLE)));
    expect(calls.every(({ sent }) => sent.length >= 1)).toBe(true);
    expect(world.budget?.level).toBe(0);
  });

  it("counts a fatal status only if it says not to retry", () => {
    const world = retrying({}, throttled);
    world.call(world.status(INTERNAL));
    expect(world.budget?.level).toBe(10);
    world.call(world.status(INTERNAL, { pushback: "-1" }));
    expect(world.budget?.level).toBe(9);
  });

  it("ignores decimals of tokenRatio after the third (Validation of retryThrottling)", () => {
    const world = retrying({}, { retryThrottling: { maxTokens: 10, tokenRatio: 0.5466 } });
    world.call([world.status(UNAVAILABLE), world.gives("done")]);
    expect(world.budget?.level).toBe(9.546);
  });

  it("drops hedges, and queues none", () => {
    const world = hedging({}, throttled);
    for (let i = 0; i < 5; i++) world.call(world.status(UNAVAILABLE));
    expect((world.budget?.level ?? 9) <= 5).toBe(true);
    const slow = world.call(world.gives("first", 5_000));
    expect([only(slow, "ok").value, slow.sent.length]).toEqual(["first", 1]);
    const lost = world.call(world.status(UNAVAILABLE));
    expect([codeOf(lost), lost.sent.length]).toEqual([UNAVAILABLE, 1]);
  });

  it("does not count what never reached the server's application (Transparent Retries)", () => {
    const world = retrying({}, throttled);
    const unsent = world.throws(Object.assign(new Error("no"), { code: "ECONNREFUSED" }));
    const call = world.call([unsent, unsent, world.gives("done")]);
    expect([only(call, "ok").value, world.budget?.level]).toEqual(["done", 10]);
  });
});

describe("hedgingPolicy", () => {
  it("sends one more each hedgingDelay, up to maxAttempts; the first success wins, and the others are cancelled", () => {
    const world = hedging();
    const call = world.call([world.hangs, world.hangs, world.gives("third", 700), world.hangs]);
    expect([sentAt(call), only(call, "ok").value, call.answeredAt]).toEqual([
      [0, 500, 1_000, 1_500],
      "third",
      1_700,
    ]);
    expect(call.sent.filter(({ signal }) => signal.aborted).length).toBe(3);
  });

  it.each([undefined, "0s", "0.000s"])("sends all at once with a hedgingDelay of %s", (hedgingDelay) => {
    const world = hedging({ hedgingDelay });
    const call = world.call([world.hangs, world.hangs, world.hangs, world.gives("last", 10)]);
    expect([sentAt(call), only(call, "ok").value]).toEqual([[0, 0, 0, 0], "last"]);
  });

  it("sends the next one at once after a non-fatal status, and goes on at hedgingDelay from there", () => {
    const world = hedging();
    const call = world.call([
      world.status(UNAVAILABLE, { ms: 120 }),
      world.hangs,
      world.hangs,
      world.gives("last", 1),
    ]);
    expect([sentAt(call), only(call, "ok").value]).toEqual([[0, 120, 620, 1_120], "last"]);
    const twice = world.call([
      world.status(UNAVAILABLE, { ms: 600 }),
      world.status(INTERNAL, { ms: 100 }),
      world.gives("third", 50),
      world.gives("fourth", 40),
    ]);
    expect([sentAt(twice), only(twice, "ok").value]).toEqual([[0, 500, 600, 600], "fourth"]);
  });

  it("ends with a fatal status, and cancels the others", () => {
    const world = hedging();
    const call = world.call([world.hangs, world.status(ABORTED, { ms: 100 }), world.gives("too late")]);
    expect([codeOf(call), call.sent.length, call.answeredAt]).toEqual([ABORTED, 2, 600]);
    expect([call.sent[0]?.signal.aborted, only(call, "failed").effect]).toEqual([true, "unknown"]);
  });

  it("takes every status as fatal where none is listed (Validation of hedgingPolicy: the list is optional)", () => {
    const world = hedging({ nonFatalStatusCodes: undefined });
    const call = world.call(world.status(UNAVAILABLE, { ms: 10 }));
    expect([codeOf(call), call.sent.length]).toEqual([UNAVAILABLE, 1]);
  });

  it("returns the failure when all have failed, and retries no more", () => {
    const world = hedging();
    const call = world.call(world.status(UNAVAILABLE, { ms: 10 }));
    expect([codeOf(call), sentAt(call), call.answeredAt]).toEqual([UNAVAILABLE, [0, 10, 20, 30], 40]);
  });

  it("keeps to the call's deadline", () => {
    const world = hedging();
    const call = world.call(world.hangs, { withinMs: 1_200 });
    expect([only(call, "failed").ended, call.sent.length, call.answeredAt]).toEqual(["clipped", 3, 1_200]);
  });
});

describe("Pushback, to a hedge", () => {
  it.each(["-1", "abc", ""])("%j: sends no more, and lets those that run go on", (pushback) => {
    const world = hedging();
    const call = world.call([world.gives("first", 2_000), world.status(UNAVAILABLE, { ms: 100, pushback })]);
    expect([only(call, "ok").value, call.sent.length, call.answeredAt]).toEqual(["first", 2, 2_000]);
    const alone = world.call(world.status(UNAVAILABLE, { pushback }));
    expect([codeOf(alone), alone.sent.length]).toEqual([UNAVAILABLE, 1]);
  });

  it("n ms: sends the next one then, and goes on at n + hedgingDelay", () => {
    const world = hedging();
    const told = world.status(UNAVAILABLE, { ms: 100, pushback: "900" });
    const call = world.call([told, world.hangs, world.hangs, world.gives("last", 1)]);
    expect([sentAt(call), only(call, "ok").value]).toEqual([[0, 1_000, 1_500, 2_000], "last"]);
  });

  it("n ms that the deadline does not leave: fails now", () => {
    const world = hedging();
    const call = world.call(world.status(UNAVAILABLE, { ms: 100, pushback: "900" }), { withinMs: 1_000 });
    expect([codeOf(call), call.sent.length, call.answeredAt]).toEqual([UNAVAILABLE, 1, 100]);
  });

  it("of one call is not that of another", () => {
    const world = hedging({ nonFatalStatusCodes: ["RESOURCE_EXHAUSTED"] });
    world.start(world.method, world.status(8, { pushback: "5000" }));
    const other = world.call([world.hangs, world.gives("second", 1)]);
    expect([sentAt(other), only(other, "ok").value]).toEqual([[0, 500], "second"]);
  });
});

it("Exposed Retry Metadata: the number of attempts before, absent on the first, for retries and hedges", () => {
  for (const world of [retrying(), hedging()]) {
    const { sent } = world.call(world.status(UNAVAILABLE));
    expect(sent.map((attempt) => grpcPreviousAttempts(attempt))).toEqual([undefined, "1", "2", "3"]);
  }
});

it("a method without a policy is neither retried nor hedged (Configuration Language)", () => {
  const world = new World({});
  expect(world.call(world.status(UNAVAILABLE)).sent.length).toBe(1);
});
