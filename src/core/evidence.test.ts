// The table of what an ending means to each guard: the data, and every row of every column driven for real.
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fault, Lab, only, type Started } from "../../test/lib/lab.ts";
import { AdaptiveThrottleGuard } from "./adaptive-throttle/guard.ts";
import { constant } from "./backoff/machine.ts";
import { breaker } from "./breaker/guard.ts";
import { CircuitBreaker } from "./breaker/machine.ts";
import { BreakerPolicy, fixed } from "./breaker/options.ts";
import { RetryBudget } from "./budget/machine.ts";
import { Bulkhead, bulkhead } from "./bulkhead/guard.ts";
import { degraded } from "./call.ts";
import { classify } from "./classify.ts";
import { aimd } from "./concurrency-limit/machine.ts";
import { deadline } from "./deadline/guard.ts";
import { type Ending, EVIDENCE } from "./evidence.ts";
import { fallback } from "./fallback/guard.ts";
import { hedge } from "./hedge/guard.ts";
import type { Binding, Guard, Judge, Stack } from "./index.ts";
import { PartialBreakerGuard } from "./partial-breaker/guard.ts";
import { RateLimit, rateLimit } from "./rate-limit/guard.ts";
import { retry } from "./retry/guard.ts";
import { timeout } from "./timeout/guard.ts";

const ENDINGS: readonly Ending[] = [
  "ok",
  "degraded",
  "transient",
  "throttled",
  "permanent",
  "timeout",
  "clipped",
  "unsent",
  "cancelled",
  "hedgeLoser",
  "refused",
];

const TIMEOUT_MS = 100;
const judge: Judge = (result) =>
  !("error" in result) && result.value === "partly" ? degraded("partly") : classify(result);
const errors = {
  transient: fault("transient"),
  throttled: fault("throttling"),
  permanent: fault("permanent"),
  unsent: fault("transient", { effect: "none", ended: "unsent" }),
} as const;

/** A world in which one attempt can be made to end in each way. `outside` and `inside` stand around the subject. */
class Trial {
  readonly lab = new Lab();
  readonly stack: Stack;
  readonly ending: Ending;
  readonly #full: Bulkhead;

  constructor(
    ending: Ending,
    guards: readonly Guard[],
    { budget, idempotent = true }: { budget?: RetryBudget; idempotent?: boolean } = {},
  ) {
    this.ending = ending;
    this.#full = new Bulkhead({ limit: 100 }, this.lab.runtime);
    const around = ending === "hedgeLoser" ? [hedge({ delayMs: 10 })] : [];
    this.stack = this.lab.stack([...around, ...guards, bulkhead(this.#full), timeout(TIMEOUT_MS)], {
      judge,
      idempotent,
      ...(budget === undefined ? {} : { budget }),
    });
  }

  /** From now on the guard within the subject refuses. */
  fill(): void {
    this.lab.start(this.lab.stack([bulkhead(this.#full)]), this.lab.hangs);
    this.#full.resize(1);
  }

  /** Makes a call whose last attempt ends that way; `before` says what its attempts do until then. */
  run(before: "nothing" | "one failure" = "nothing"): Started {
    const { lab, ending } = this;
    const last = this.#script();
    const scripts = before === "nothing" ? [last] : [lab.throws(errors.transient, 1), last];
    if (ending === "hedgeLoser") scripts.push(lab.gives("winner", 5));
    if (ending === "refused" && before === "nothing") this.fill();
    const call = lab.start(this.stack, scripts, ending === "clipped" ? { withinMs: TIMEOUT_MS / 2 } : {});
    if (ending === "refused" && before === "one failure") this.fill();
    if (before === "one failure") lab.runtime.advance(2);
    if (ending === "cancelled") {
      lab.runtime.advance(5);
      call.process.cancel("the caller has gone");
    }
    lab.runtime.advance(TIMEOUT_MS + 10);
    return call;
  }

  #script() {
    const { lab, ending } = this;
    if (ending === "ok") return lab.gives("whole", 1);
    if (ending === "degraded") return lab.gives("partly", 1);
    return ending in errors ? lab.throws(errors[ending as keyof typeof errors], 1) : lab.hangs;
  }
}

/** The columns, as the design states them. A dash: that ending cannot meet that guard. */
const BREAKER: Record<Ending, "success" | "failure" | "ignored"> = {
  ok: "success",
  degraded: "success",
  transient: "failure",
  throttled: "failure",
  permanent: "success",
  timeout: "failure",
  clipped: "ignored",
  unsent: "failure",
  cancelled: "ignored",
  hedgeLoser: "ignored",
  refused: "ignored",
};

const BUDGET: Record<Ending, "spent" | "returned"> = {
  ok: "spent",
  degraded: "spent",
  transient: "spent",
  throttled: "spent",
  permanent: "spent",
  timeout: "spent",
  clipped: "spent",
  unsent: "returned",
  cancelled: "spent",
  hedgeLoser: "spent",
  refused: "returned",
};

const RETRY: Record<Ending, "never" | "always" | "if repeatable"> = {
  ok: "never",
  degraded: "never",
  transient: "if repeatable",
  throttled: "if repeatable",
  permanent: "never",
  timeout: "if repeatable",
  clipped: "never",
  unsent: "always",
  cancelled: "never",
  hedgeLoser: "never",
  refused: "never",
};

/** When the place comes free: with the answer, only when the work has ended, or it was never taken. */
const BULKHEAD: Record<Ending, "at the answer" | "when the work ends" | "not taken"> = {
  ok: "at the answer",
  degraded: "at the answer",
  transient: "at the answer",
  throttled: "at the answer",
  permanent: "at the answer",
  timeout: "when the work ends",
  clipped: "when the work ends",
  unsent: "at the answer",
  cancelled: "when the work ends",
  hedgeLoser: "when the work ends",
  refused: "not taken",
};

const FALLBACK: Record<Ending, "replaced" | "stands" | "–"> = {
  ok: "stands",
  degraded: "stands",
  transient: "replaced",
  throttled: "replaced",
  permanent: "stands",
  timeout: "replaced",
  clipped: "replaced",
  unsent: "replaced",
  cancelled: "stands",
  hedgeLoser: "–",
  refused: "replaced",
};

/** What the second attempt's end does to the race. */
const HEDGE: Record<Ending, "wins" | "the first goes on" | "–"> = {
  ok: "wins",
  degraded: "wins",
  transient: "the first goes on",
  throttled: "the first goes on",
  permanent: "the first goes on",
  timeout: "–",
  clipped: "–",
  unsent: "the first goes on",
  cancelled: "–",
  hedgeLoser: "–",
  refused: "the first goes on",
};

/** What the adaptive throttle counts: a call accepted, one not accepted, or nothing. */
const THROTTLE: Record<Ending, "accept" | "reject" | "nothing"> = {
  ok: "accept",
  degraded: "accept",
  transient: "nothing",
  throttled: "reject",
  permanent: "accept",
  timeout: "nothing",
  clipped: "nothing",
  unsent: "nothing",
  cancelled: "nothing",
  hedgeLoser: "nothing",
  refused: "nothing",
};

/** What an adaptive limit learns. */
const LIMIT: Record<Ending, "sample" | "overload" | "nothing"> = {
  ok: "sample",
  degraded: "sample",
  transient: "nothing",
  throttled: "overload",
  permanent: "sample",
  timeout: "overload",
  clipped: "nothing",
  unsent: "nothing",
  cancelled: "nothing",
  hedgeLoser: "nothing",
  refused: "nothing",
};

/** Each guard's folder, and how its column is tried. Those that only make an ending name it. */
const COLUMNS: Record<string, ((ending: Ending) => void) | { readonly makes: readonly Ending[] }> = {
  breaker: (ending) => {
    closedBreaker(ending);
    probingBreaker(ending);
  },
  bulkhead: (ending) => {
    aBulkhead(ending);
    aLearningLimit(ending);
  },
  "adaptive-throttle": aThrottle,
  "partial-breaker": aPartialBreaker,
  "rate-limit": aRateLimit,
  // What waits for a flight sends nothing: the flight's own attempts are evidence.
  coalesce: { makes: ["clipped", "cancelled"] },
  deadline: { makes: ["clipped", "refused"] },
  fallback: aFallback,
  hedge: aHedge,
  retry: (ending) => {
    aRetry(ending);
    aBudget(ending);
  },
  timeout: { makes: ["timeout"] },
};

function closedBreaker(ending: Ending): void {
  const machine = new CircuitBreaker(new BreakerPolicy({ window: { calls: 10 } }));
  const trial = new Trial(ending, [breaker(machine)]);
  trial.run();
  // The winner of a race is evidence of its own.
  const winner = ending === "hedgeLoser" ? 1 : 0;
  const total = winner + (BREAKER[ending] === "ignored" ? 0 : 1);
  const failures = BREAKER[ending] === "failure" ? 1 : 0;
  expect(machine.state).toMatchObject({ name: "closed", window: { total, failures } });
}

/** The same as a probe: it closes, opens, or gives its slot back. Probes are never hedged. */
function probingBreaker(ending: Ending): void {
  if (ending === "hedgeLoser") return;
  const machine = new CircuitBreaker(
    new BreakerPolicy({ window: { calls: 1 }, openMs: 50, reopen: fixed(), probes: 1, probeLeaseMs: 10_000 }),
  );
  const trial = new Trial(ending, [breaker(machine)]);
  if (machine.state.name === "closed") machine.record(machine.state, "failure", 0, () => 0);
  trial.lab.runtime.advance(50);
  trial.run();
  const becomes = { success: "closed", failure: "open", ignored: "not jammed" }[BREAKER[ending]];
  if (becomes === "not jammed") expect(machine.ask(trial.lab.runtime.now())).toBe("probe");
  else expect(machine.state.name).toBe(becomes);
}

function aBudget(ending: Ending): void {
  if (ending === "hedgeLoser") {
    hedgeToken();
    return;
  }
  const budget = new RetryBudget({ ratio: 0, burst: 5 });
  const trial = new Trial(ending, [retry({ attempts: 2, backoff: constant(1) })], { budget });
  const call = trial.run("one failure");
  const spent = BUDGET[ending] === "spent" ? 1 : 0;
  expect(call.sent).toHaveLength(ending === "refused" ? 1 : 2);
  expect(budget).toMatchObject({ firsts: 1, reserved: 0, repeats: spent, level: 5 - spent });
}

/** A hedge that loses has been sent, and has spent. */
function hedgeToken(): void {
  const lab = new Lab();
  const budget = new RetryBudget({ ratio: 0, burst: 5 });
  const stack = lab.stack([hedge({ delayMs: 10 })], { budget });
  const call = lab.start(stack, [lab.gives("first", 20), lab.hangs]);
  lab.runtime.advance(20);
  expect([only(call, "ok").value, budget.repeats, budget.reserved, budget.level]).toEqual(["first", 1, 0, 4]);
}

function aRetry(ending: Ending): void {
  for (const idempotent of [true, false]) {
    if (ending === "hedgeLoser" && !idempotent) continue;
    const trial = new Trial(ending, [retry({ attempts: 2, backoff: constant(1) })], { idempotent });
    const call = trial.run();
    const again = RETRY[ending] === "always" || (RETRY[ending] === "if repeatable" && idempotent);
    const before = { refused: 0, hedgeLoser: 2 }[ending as string] ?? 1;
    expect(call.sent, idempotent ? "idempotent" : "not idempotent").toHaveLength(before + (again ? 1 : 0));
  }
  if (ending !== "throttled") return;
  const told = new Lab();
  const stack = told.stack([retry({ attempts: 2, backoff: constant(1) })]);
  const call = told.start(stack, told.throws(fault("throttling", { pushback: "never" })));
  told.runtime.advance(10);
  expect([call.sent.length, only(call, "failed").stoppedBy?.reason]).toEqual([1, "told not to"]);
}

function aBulkhead(ending: Ending): void {
  const caps: Bulkhead[] = [];
  const bind = ({ runtime }: Binding): Bulkhead => {
    const cap = new Bulkhead({ limit: 5 }, runtime);
    caps.push(cap);
    return cap;
  };
  const subject = new Trial(ending, [{ name: "bulkhead", bind }]);
  const [cap] = caps as [Bulkhead];
  const call = subject.run();
  const held = BULKHEAD[ending] === "when the work ends" ? 1 : 0;
  expect([cap.gate.held, call.sent.length > 0]).toEqual([held, BULKHEAD[ending] !== "not taken"]);
  for (const attempt of call.sent) attempt.succeed("at last");
  expect([cap.gate.held, subject.stack.leaf.abandoned]).toEqual([0, 0]);
}

/** From one, a good answer makes it two; from four, an overload makes it two. */
function aLearningLimit(ending: Ending): void {
  const learns = LIMIT[ending];
  // With one place there is no race.
  if (ending !== "hedgeLoser") expect(limitAfter(ending, 1)).toBe(learns === "sample" ? 2 : 1);
  expect(limitAfter(ending, 4)).toBe(learns === "overload" ? 2 : 4);
}

function limitAfter(ending: Ending, initial: number): number {
  const caps: Bulkhead[] = [];
  const bind = ({ runtime }: Binding): Bulkhead => {
    const cap = new Bulkhead({ limit: aimd({ initial, cut: 0.5 }) }, runtime);
    caps.push(cap);
    return cap;
  };
  new Trial(ending, [{ name: "bulkhead", bind }]).run();
  return caps[0]?.gate.limit ?? 0;
}

function aThrottle(ending: Ending): void {
  const guards: AdaptiveThrottleGuard[] = [];
  const bind = ({ runtime }: Binding): AdaptiveThrottleGuard => {
    const guard = new AdaptiveThrottleGuard({}, runtime, "stock.view");
    guards.push(guard);
    return guard;
  };
  const trial = new Trial(ending, [{ name: "adaptiveThrottle", bind }]);
  const [{ machine }] = guards as [AdaptiveThrottleGuard];
  trial.run();
  // The winner of a race is a call of its own.
  const winner = ending === "hedgeLoser" ? 1 : 0;
  const [requests, accepts] = { accept: [1, 1], reject: [1, 0], nothing: [0, 0] }[THROTTLE[ending]] as [
    number,
    number,
  ];
  const now = trial.lab.runtime.now();
  expect([machine.requests(now), machine.accepts(now)]).toEqual([requests + winner, accepts + winner]);
}

/** It counts what a breaker counts. */
function aPartialBreaker(ending: Ending): void {
  const seen: boolean[] = [];
  const bind = ({ runtime }: Binding): PartialBreakerGuard => {
    const guard = new PartialBreakerGuard({}, runtime, "stock.view");
    guard.machine.record = (failed) => void seen.push(failed);
    return guard;
  };
  new Trial(ending, [{ name: "partialBreaker", bind }]).run();
  const winner = ending === "hedgeLoser" ? [false] : [];
  const own = { success: [false], failure: [true], ignored: [] }[BREAKER[ending]];
  expect(seen).toEqual([...winner, ...own]);
}

/** Paid when it is let in, whatever becomes of it. */
function aRateLimit(ending: Ending): void {
  const limit = new RateLimit({ limit: 10, windowMs: 1e9 });
  const trial = new Trial(ending, [rateLimit(limit)]);
  trial.run();
  const paid = { refused: 0, hedgeLoser: 2 }[ending as string] ?? 1;
  expect(10 - limit.bucket.level(trial.lab.runtime.now())).toBeCloseTo(paid, 3);
}

function aFallback(ending: Ending): void {
  if (FALLBACK[ending] === "–") return;
  const trial = new Trial(ending, [fallback((_because, attempt) => attempt.succeed("substitute"))]);
  const [exit] = trial.run().answers;
  const replaced = exit?.kind === "ok" && exit.value === "substitute";
  expect(replaced).toBe(FALLBACK[ending] === "replaced");
}

function aHedge(ending: Ending): void {
  if (HEDGE[ending] === "–") return;
  const trial = new Trial(ending, [hedge({ delayMs: 10 })]);
  const { lab } = trial;
  const second = {
    ok: lab.gives("second", 5),
    degraded: lab.gives("partly", 5),
    refused: lab.hangs,
    ...Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, lab.throws(error, 5)])),
  }[ending as "ok"];
  const call = lab.start(trial.stack, [lab.gives("first", 60), second]);
  if (ending === "refused") trial.fill();
  lab.runtime.advance(100);
  expect(only(call, "ok").value === "first").toBe(HEDGE[ending] === "the first goes on");
  expect(call.sent).toHaveLength(ending === "refused" ? 1 : 2);
}

describe("the evidence table", () => {
  it("is what the design says", () => {
    const rows = Object.values(EVIDENCE).map((row) => Object.values(row).join(" "));
    expect(rows).toEqual([
      "ok success sample accept settled never",
      "degraded success sample accept settled never",
      "transient failure ignored none settled ifRepeatable",
      "throttled failure overload reject settled byPushback",
      "permanent success sample accept settled never",
      "timeout failure overload none settled ifRepeatable",
      "clipped ignored ignored none settled never",
      "unsent failure ignored none returned always",
      "cancelled ignored ignored none returnedIfUnsent never",
      "hedgeLoser ignored ignored none spent never",
      "refused ignored ignored none returned never",
    ]);
    expect(Object.keys(EVIDENCE)).toEqual(ENDINGS);
  });

  it("has a column for every guard there is", () => {
    const folders = readdirSync(new URL(".", import.meta.url), { withFileTypes: true });
    const guards = folders.filter(
      (folder) =>
        folder.isDirectory() && readdirSync(new URL(`${folder.name}/`, import.meta.url)).includes("guard.ts"),
    );
    expect(Object.keys(COLUMNS).sort()).toEqual(guards.map((folder) => folder.name).sort());
  });

  const tried = Object.entries(COLUMNS).flatMap(([name, column]) =>
    typeof column === "function" ? [[name, column] as const] : [],
  );
  describe.each(tried)("%s", (_name, column) => {
    it.each(ENDINGS)("an attempt that ends by: %s", (ending) => column(ending));
  });

  it("a token comes back when its attempt was cancelled before it was sent", () => {
    const budget = new RetryBudget({ ratio: 0, burst: 5 });
    const lab = new Lab();
    const cap = new Bulkhead({ limit: 1, queue: { maxWaiting: 5 } }, lab.runtime);
    const stack = lab.stack([retry({ backoff: constant(10) }), bulkhead(cap)], { budget });
    const call = lab.start(stack, lab.throws(errors.transient));
    lab.start(stack, lab.hangs);
    lab.runtime.advance(10);
    expect([cap.waiting, budget.reserved]).toEqual([1, 1]);
    call.process.cancel("gone");
    expect([cap.waiting, budget.reserved, budget.repeats, budget.level]).toEqual([0, 0, 0, 5]);
  });

  it("what passes before sending is a refusal by the deadline, and after it the clipped timeout", () => {
    const lab = new Lab();
    const cap = new Bulkhead({ limit: 1, queue: { maxWaiting: 5 } }, lab.runtime);
    const stack = lab.stack([deadline(50), bulkhead(cap), timeout(TIMEOUT_MS)]);
    const [sent, queued] = [lab.start(stack, lab.hangs), lab.start(stack, lab.hangs)];
    lab.runtime.advance(50);
    expect(only(sent, "failed").ended).toBe("clipped");
    expect(only(queued, "rejected").by).toBe("deadline");
  });
});
