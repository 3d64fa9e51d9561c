// The ten laws, as an observer sees them: from what the works, the answers and the gauges say, step by step.
import {
  type Admission,
  Attempt,
  type BreakerState,
  type Exit,
  type PlimsollEvent,
  TimeoutError,
} from "../../src/core/index.ts";
import type { GuardSpec, StackSpec } from "./program.ts";
import type { CallRun, WorkRun } from "./records.ts";
import type { World } from "./world.ts";

/** A law that was broken. */
export interface Breach {
  readonly law: string;
  readonly message: string;
}

/** What an ending is to a breaker, as the design says it; on purpose not read from the table of the core. */
const FAILURES = new Set(["transient", "throttled", "timeout", "unsent"]);
const SUCCESSES = new Set(["ok", "degraded", "permanent"]);

/** The endings that a work of its own makes. */
const OWN: Record<string, string> = {
  ok: "ok",
  degraded: "degraded",
  transient: "transient",
  throttled: "throttled",
  told: "throttled",
  permanent: "permanent",
  unsent: "unsent",
  unclassified: "transient",
};

/** What can be said of a stack from its guards alone. */
class Shape {
  readonly spec: StackSpec;
  /** Works that one call can make at most. */
  readonly maxWorks: number;
  readonly hedged: boolean;
  readonly retries: number;
  /** What fallbacks may add to the deadline; none: nothing. */
  readonly fallbackMs: number;
  readonly hasFallback: boolean;
  readonly timeoutMs: number;
  /** The guards around each attempt, and those around sequences. */
  readonly innermost: readonly GuardSpec[];
  readonly scopes: readonly GuardSpec[];

  constructor(spec: StackSpec) {
    this.spec = spec;
    const { guards } = spec;
    this.hedged = guards.some((guard) => guard.kind === "hedge");
    this.retries = guards.filter((guard) => guard.kind === "retry").length;
    this.maxWorks = guards.reduce((product, guard) => {
      if (guard.kind === "retry") return product * guard.attempts;
      return guard.kind === "hedge" ? product * 2 : product;
    }, 1);
    const fallbacks = guards.filter((guard) => guard.kind === "fallback");
    this.fallbackMs = fallbacks.reduce((sum, guard) => sum + guard.timeoutMs, 0);
    this.hasFallback = fallbacks.length > 0;
    const last = guards.at(-1);
    this.timeoutMs = last?.kind === "timeout" ? last.ms : Infinity;
    const isAdmitter = (guard: GuardSpec): boolean => guard.kind === "breaker" || guard.kind === "bulkhead";
    const rest = last?.kind === "timeout" ? guards.slice(0, -1) : [...guards];
    let from = rest.length;
    while (from > 0 && isAdmitter(rest[from - 1] as GuardSpec)) from--;
    this.innermost = rest.slice(from);
    this.scopes = rest.slice(0, from).filter(isAdmitter);
  }

  /** How often a breaker stands in it. */
  breakers(of: number): number {
    return this.spec.guards.filter((guard) => guard.kind === "breaker" && guard.of === of).length;
  }

  /** A single retry around the attempt, and nothing that makes attempts side by side. */
  get isPlain(): boolean {
    return !this.hedged && this.retries <= 1;
  }
}

/** Endings since the breaker was last seen to change. */
interface Evidence {
  state: BreakerState;
  /** When it was seen to become that. */
  since: number;
  failures: number;
  successes: number;
}

export class Checker {
  readonly breaches: Breach[] = [];
  readonly #world: World;
  readonly #shapes: readonly Shape[];
  readonly #evidence: Evidence[];
  /** What the events say each breaker is. */
  readonly #told: string[];
  readonly #firsts: number[];
  readonly #repeats: number[];

  /** Whether the clock stands still between two steps, so that every time can be told exactly. */
  readonly #exact: boolean;

  constructor(world: World, exact: boolean) {
    this.#world = world;
    this.#exact = exact;
    this.#shapes = world.program.stacks.map((spec) => new Shape(spec));
    this.#evidence = world.breakers.map(({ state }) => ({ state, since: 0, failures: 0, successes: 0 }));
    this.#told = world.breakers.map(() => "closed");
    this.#firsts = world.budgets.map(() => 0);
    this.#repeats = world.budgets.map(() => 0);
    for (const bulkhead of world.bulkheads) bulkhead.report = (law, message) => this.fail(law, message);
  }

  fail(law: string, message: string): void {
    this.breaches.push({ law, message: `${message} (at ${this.#world.runtime.now()} ms)` });
  }

  /** A work has been started, and is in `call.works` already. */
  workStarts(run: WorkRun): void {
    const { call, attempt } = run;
    const now = this.#world.runtime.now();
    const { exit } = call.process ?? { exit: null };
    if (call.answers.length > 0 || exit !== null)
      this.fail("1", `call ${call.index} was answered, and was sent again`);
    if (attempt.state !== "sent") this.fail("1", `a work started while its attempt is ${attempt.state}`);
    if (this.#exact && now >= attempt.call.deadline) this.fail("9", "sent after its deadline");
    if (this.#exact && !run.isFallback && now >= call.deadline)
      this.fail("9", "sent after its call's deadline");
    if (run.isFallback) return;
    const shape = this.#shapeOf(call);
    if (this.#exact && attempt.call.deadline - now < shape.spec.minUsefulMs)
      this.fail("9", "sent with too little time left");
    if (attempt.timeoutMs > shape.timeoutMs && !isProbing(attempt))
      this.fail("9", "more time than its timeout");
    if (call.works.length > shape.maxWorks)
      this.fail("6", `call ${call.index} was sent ${call.works.length} times, of ${shape.maxWorks}`);
    if (call.refused && shape.isPlain && !shape.hasFallback)
      this.fail("8", `call ${call.index} was refused locally, and was sent again`);
    this.#mayRepeat(run, shape);
    this.#throughBreaker(run, shape);
    this.#book(run);
  }

  /** After an end that is final, or that may have taken effect, the same call is not sent again. */
  #mayRepeat({ call }: WorkRun, shape: Shape): void {
    const before = call.works.at(-2);
    if (before === undefined || !shape.isPlain || shape.retries === 0) return;
    const { judged } = before;
    if (judged === "ok" || judged === "degraded" || judged === "permanent" || judged === "told")
      this.fail("8", `call ${call.index} ended with ${judged}, and was sent again`);
    const harmless = judged === "unsent" || judged === "throttled";
    if (!harmless && !shape.spec.idempotent && !call.spec.keyed)
      this.fail("8", `call ${call.index} may not be repeated, and was`);
  }

  /** A breaker that enforces lets nothing through but what it admitted. */
  #throughBreaker({ attempt, call }: WorkRun, shape: Shape): void {
    for (const guard of shape.innermost) {
      if (guard.kind !== "breaker") continue;
      const machine = this.#world.breakers[guard.of];
      const waited = this.#world.bulkheads.some((bulkhead) => bulkhead.queued.has(attempt));
      if (machine === undefined || machine.mode !== "enforce" || waited) continue;
      const { state } = machine;
      if (state.name === "open") this.fail("3", `call ${call.index} was sent through an open breaker`);
      if (state.name === "halfOpen" && attempt.kind !== "probe")
        this.fail("3", "no probe, through a half-open breaker");
    }
  }

  #book(run: WorkRun): void {
    const { budget } = this.#shapeOf(run.call).spec;
    if (budget === null) return;
    const books = run.isFirst ? this.#firsts : this.#repeats;
    books[budget] = (books[budget] as number) + 1;
  }

  answered(call: CallRun, exit: Exit): void {
    if (call.answers.length > 1)
      this.fail("1", `call ${call.index} was answered ${call.answers.length} times`);
    if (call.process !== null && call.process.exit !== exit) this.fail("1", "the answer is not the exit");
    if (exit.kind === "cancelled") {
      if (call.cancelled?.reason !== exit.reason)
        this.fail("1", `call ${call.index} was not cancelled by its caller`);
      return;
    }
    if (call.cancelled !== null)
      this.fail("1", `call ${call.index} was cancelled, and answered ${exit.kind}`);
    if (exit.kind === "rejected") {
      if (call.works.length > 0) this.fail("8", `call ${call.index} was refused, and had been sent`);
    } else if (exit.kind === "ok") this.#wholeAnswer(call, exit.value);
    else this.#lastWord(call, exit.error);
  }

  #wholeAnswer(call: CallRun, value: unknown): void {
    const of = [...call.works, ...call.fallbackWorks].find((run) => run.mark === value);
    if (of === undefined || !of.reported)
      this.fail("1", `call ${call.index} was answered with what no work gave`);
  }

  /** What is reported is the dependency's last outcome. */
  #lastWord(call: CallRun, error: unknown): void {
    const shape = this.#shapeOf(call);
    if (!shape.isPlain) return;
    const last = call.works.at(-1);
    if (error instanceof TimeoutError) {
      if (
        last?.reported === true &&
        last.judged !== null &&
        last.attempt.state === "ended" &&
        !this.#late(last)
      )
        this.fail("1", `call ${call.index} reports a timeout, and its last attempt had none`);
      return;
    }
    const run = (error as { run?: WorkRun }).run;
    if (run !== undefined && run !== last)
      this.fail("1", `call ${call.index} reports an attempt that was not the last`);
  }

  #late(run: WorkRun): boolean {
    return this.#world.runtime.now() >= run.attempt.deadline;
  }

  event(call: CallRun, event: PlimsollEvent): void {
    if (event.type === "call.answered") {
      call.answeredEvents++;
      if (event.sent !== call.works.length)
        this.fail("8", `call ${call.index} says it was sent ${event.sent} times`);
    } else if (event.type === "attempt.refused") call.refused = true;
    else if (event.type === "attempt.answered") this.#attemptAnswered(call, event);
    if (event.type === "retry.scheduled" && !(event.delayMs >= 0 && event.delayMs <= 32))
      this.fail("6", `a backoff of ${event.delayMs} ms`);
  }

  /** Every change of a breaker is told once, and from what it was. */
  breakerChanged({ operation, from, to }: PlimsollEvent & { type: "breaker.changed" }): void {
    const { guards } = (this.#shapes[Number(operation.slice(1))] as Shape).spec;
    const of = new Set(guards.flatMap((guard) => (guard.kind === "breaker" ? [guard.of] : [])));
    const [breaker] = of;
    if (this.#aloneInTheirStacks && breaker !== undefined) {
      if (this.#told[breaker] !== from)
        this.fail("3", `a breaker that was ${this.#told[breaker]} tells: from ${from} to ${to}`);
      this.#told[breaker] = to;
    }
  }

  /** An event does not say which of its operation's breakers it is of. */
  get #aloneInTheirStacks(): boolean {
    return this.#shapes.every(({ spec }) => {
      const of = spec.guards.flatMap((guard) => (guard.kind === "breaker" ? [guard.of] : []));
      return new Set(of).size <= 1;
    });
  }

  #attemptAnswered(call: CallRun, event: PlimsollEvent & { type: "attempt.answered" }): void {
    const run = [...call.works, ...call.fallbackWorks].find(
      ({ attempt, heardOfAnswer }) =>
        attempt.number === event.attempt &&
        attempt.kind === event.kind &&
        !heardOfAnswer &&
        attempt.state !== "sent" &&
        (!this.#exact || attempt.sentAt === event.at - event.durationMs),
    );
    if (run === undefined) {
      this.fail("1", `call ${call.index} tells of an attempt that nobody made`);
      return;
    }
    run.heardOfAnswer = true;
    this.#countEvidence(run, event.ending);
    if (event.ending === "unsent") this.#unbook(run);
    this.#honest(run, event);
  }

  /** Whether the ending is true. */
  #honest(run: WorkRun, { ending, at }: PlimsollEvent & { type: "attempt.answered" }): void {
    const { attempt, call } = run;
    if (ending === "timeout" && at - attempt.sentAt < attempt.timeoutMs)
      this.fail("9", "timed out too early");
    else if (ending === "clipped" && at < attempt.call.deadline)
      this.fail("9", "clipped before its deadline");
    else if (ending === "cancelled" && call.cancelled === null && !this.#shapeOf(call).hedged)
      this.fail("1", "an attempt was cancelled, and its call was not");
    else if (ending === "hedgeLoser" && !this.#shapeOf(call).hedged) this.fail("3", "a loser without a race");
    else if (FAILURES.has(ending) || SUCCESSES.has(ending)) {
      if (ending === "timeout") return;
      if (!run.reported) this.fail("1", `answered ${ending} by work that has not ended`);
      const own = run.judged === null ? null : OWN[run.judged];
      // A classifier that throws makes it permanent; work that reports an end of the other kind makes it ok.
      if (own !== null && own !== ending && ending !== "permanent" && ending !== "ok")
        this.fail("1", `a work gave ${run.judged}, and its attempt was answered ${ending}`);
    }
  }

  #countEvidence({ call, isFallback }: WorkRun, ending: string): void {
    const shape = this.#shapeOf(call);
    this.#evidence.forEach((evidence, index) => {
      // A substitute is no evidence, but for a breaker that stands around a fallback.
      if (isFallback && !this.#aroundSequences(index)) return;
      const times = shape.breakers(index);
      if (FAILURES.has(ending)) evidence.failures += times;
      else if (SUCCESSES.has(ending)) evidence.successes += times;
    });
  }

  /** A repeat that never left has spent nothing. */
  #unbook(run: WorkRun): void {
    const { budget } = this.#shapeOf(run.call).spec;
    if (budget !== null && !run.isFirst && !run.isFallback)
      this.#repeats[budget] = (this.#repeats[budget] as number) - 1;
  }

  /** Looks at everything. Called when nothing is half-way: between the steps of the world. */
  look(): void {
    const world = this.#world;
    if (world.runtime.loop.running) return;
    for (const index of world.bulkheads.keys()) this.#lookAtBulkhead(index);
    for (const index of world.budgets.keys()) this.#lookAtBudget(index);
    for (const index of world.breakers.keys()) this.#lookAtBreaker(index);
    for (const call of world.calls) if (call.started) this.#lookAtCall(call);
    for (const index of world.stacks.keys()) this.#lookAtStack(index);
  }

  #lookAtBulkhead(index: number): void {
    const bulkhead = this.#world.bulkheads[index];
    if (bulkhead === undefined) return;
    const { gate, waiting } = bulkhead;
    const now = this.#world.runtime.now();
    const spec = this.#world.program.bulkheads[index];
    if (gate.held < 0) this.fail("10", `${gate.held} places held`);
    if (waiting > 0 && gate.free) this.fail("5", `${waiting} wait while a place is free`);
    if (waiting > (spec?.maxWaiting ?? 0)) this.fail("6", `${waiting} wait`);
    const waiters = bulkhead.look();
    if (waiters.length !== waiting) this.fail("5", `${waiters.length} wait, and the queue says ${waiting}`);
    for (const { admission, since } of waiters) {
      const call = this.#world.calls[Number(admission.call.tenant)];
      if (this.#exact && now > Math.min(since + (spec?.maxWaitMs ?? 0), admission.call.deadline))
        this.fail("6", "waits too long");
      if (call !== undefined && call.answers.length > 0)
        this.fail("3", `call ${call.index} is answered, and waits`);
    }
    this.#lookAtPlaces(index);
  }

  /** Places are held by exactly the work that goes on. */
  #lookAtPlaces(index: number): void {
    const { bulkheads, live, program } = this.#world;
    const bulkhead = bulkheads[index];
    if (bulkhead === undefined) return;
    const around = new Set<Admission>();
    const working = new Set<Admission>();
    for (const { attempt } of live) {
      working.add(attempt);
      for (let outer = attempt.outer; outer !== null; outer = outer.outer) around.add(outer);
    }
    const reclaims = program.bulkheads[index]?.reclaimMs !== null;
    let [least, most] = [0, 0];
    for (const admission of bulkhead.holders) {
      const call = this.#world.calls[Number(admission.call.tenant)];
      if (admission instanceof Attempt) {
        if (!working.has(admission)) continue;
        if (!reclaims || admission.state === "sent") least++;
        most++;
      } else if (around.has(admission)) {
        if (!reclaims) least++;
        most++;
      } else if (call !== undefined && call.answers.length === 0) most++;
    }
    const { held } = bulkhead.gate;
    if (held < least) this.fail("2", `${held} places held by ${least} that go on`);
    if (held > most) this.fail("2", `${held} places held, and at most ${most} go on`);
  }

  #lookAtBudget(index: number): void {
    const budget = this.#world.budgets[index];
    if (budget === undefined) return;
    const { level, burst, ratio, reserved, repeats, firsts } = budget;
    if (level < 0 || level > burst) this.fail("10", `a budget at ${level} of ${burst}`);
    if (reserved < 0) this.fail("10", `${reserved} tokens reserved`);
    if (repeats + reserved > burst + ratio * firsts + 1e-9)
      this.fail("10", `${repeats} repeats and ${reserved} reserved, of ${burst} + ${ratio} × ${firsts}`);
    if (firsts !== this.#firsts[index] || repeats !== this.#repeats[index])
      this.fail(
        "10",
        `${this.#firsts[index]} firsts and ${this.#repeats[index]} repeats were sent, the books say ${firsts} and ${repeats}`,
      );
  }

  #lookAtBreaker(index: number): void {
    const machine = this.#world.breakers[index];
    const seen = this.#evidence[index];
    if (machine === undefined || seen === undefined) return;
    const { state, policy } = machine;
    if (state.name === "halfOpen" && state.probes.length + state.passed > policy.probes)
      this.fail("3", `${state.probes.length} probes out and ${state.passed} passed, of ${policy.probes}`);
    if (state !== seen.state && state.name === "open") {
      const needed = seen.state.name === "closed" ? Math.ceil(policy.failureRate * policy.minimumCalls) : 1;
      if (seen.failures < needed)
        this.fail("3", `a breaker opened after ${seen.failures} failures of ${needed}`);
    }
    if (state.name === "closed" && state === seen.state) {
      const { window } = state;
      if (window.failures > seen.failures)
        this.fail("3", `${window.failures} failures counted of ${seen.failures}`);
      if (window.total - window.failures > seen.successes)
        this.fail("3", "more successes counted than there were");
    }
    if (state !== seen.state) this.#begins(index, state, seen);
    this.#countProbes(index);
  }

  #begins(index: number, state: BreakerState, seen: Evidence): void {
    // Around a sequence, evidence comes when that ends, long after the attempts that it is made of.
    const startsAnew = state.name !== "closed" && !this.#aroundSequences(index);
    const since = this.#world.runtime.now();
    const { failures, successes } = startsAnew ? { failures: 0, successes: 0 } : seen;
    this.#evidence[index] = { state, since, failures, successes };
  }

  #aroundSequences(breaker: number): boolean {
    return this.#shapes.some(({ scopes }) =>
      scopes.some((guard) => guard.kind === "breaker" && guard.of === breaker),
    );
  }

  #countProbes(index: number): void {
    const machine = this.#world.breakers[index];
    if (machine === undefined) return;
    const now = this.#world.runtime.now();
    const { since } = this.#evidence[index] as Evidence;
    let [out, unanswered] = [0, 0];
    for (const { attempt, call, isFallback } of this.#world.live) {
      const through = this.#shapeOf(call).innermost.some(
        (guard) => guard.kind === "breaker" && guard.of === index,
      );
      if (isFallback || !through || attempt.state !== "sent") continue;
      unanswered++;
      const leased = attempt.sentAt + machine.policy.probeLeaseMs > now;
      if (attempt.kind === "probe" && leased && attempt.sentAt >= since) out++;
    }
    const { state, policy } = machine;
    if (state.name !== "halfOpen") return;
    if (out > policy.probes) this.fail("3", `${out} probes out, of ${policy.probes}`);
    if (this.#aroundSequences(index)) return;
    const held = state.probes.filter((probe) => probe.leasedUntil > now).length;
    if (held > unanswered) this.fail("3", `${held} probes held, and ${unanswered} attempts have no answer`);
  }

  #lookAtCall(call: CallRun): void {
    const { process, answers } = call;
    if (process === null) return;
    const ended = process.exit !== null;
    if (ended && answers.length !== 1)
      this.fail("1", `call ${call.index} has ended, with ${answers.length} answers`);
    if (ended !== (call.answeredEvents === 1))
      this.fail("1", `call ${call.index}: ${call.answeredEvents} events of its end`);
    const now = this.#world.runtime.now();
    const shape = this.#shapeOf(call);
    if (this.#exact && !ended && now > call.deadline + shape.fallbackMs)
      this.fail("9", `call ${call.index} is ${now - call.deadline} ms over its deadline`);
    for (const { attempt } of [...call.works, ...call.fallbackWorks]) {
      if (attempt.state !== "sent") continue;
      if (ended) this.fail("1", `call ${call.index} was answered, and an attempt of it goes on`);
      if (this.#exact && now > attempt.deadline)
        this.fail("9", `an attempt of call ${call.index} is over its time`);
    }
  }

  /** Attempts answered by something else than their own end, and not ended. */
  #lookAtStack(index: number): void {
    const stack = this.#world.stacks[index];
    if (stack === undefined) return;
    const now = this.#world.runtime.now();
    let [least, most] = [0, 0];
    for (const run of this.#world.live) {
      if (run.isFallback || run.call.spec.stack !== index || run.attempt.state !== "answered") continue;
      most++;
      // A body that is still open is no abandoned work until its time is over.
      if (!run.reported || (this.#exact && now > run.attempt.deadline)) least++;
    }
    for (const run of this.#world.live) {
      if (run.call.spec.stack !== index || run.reported || !run.listening) continue;
      if (run.attempt.state === "answered" && !run.heardOfAbort)
        this.fail("2", "a work was given up and not told");
    }
    if (stack.leaf.abandoned < least || stack.leaf.abandoned > most)
      this.fail("2", `${stack.leaf.abandoned} abandoned, and there are ${least} to ${most}`);
  }

  /** Nothing happens any more by itself: whoever has no answer waits for work that never ends. */
  atRest(): void {
    for (const call of this.#world.calls) {
      if (!call.started || call.answers.length > 0) continue;
      const waits = [...this.#world.live].some(
        ({ call: of, attempt }) => of === call && attempt.state === "sent",
      );
      if (!waits) this.fail("1", `call ${call.index} will never be answered`);
    }
  }

  /** Everything has ended: nothing is held, queued, reserved or counted any more, and every breaker can be closed. */
  atEnd(laterMs: number): void {
    const { bulkheads, budgets, breakers, stacks, runtime } = this.#world;
    this.look();
    for (const { gate, waiting } of bulkheads) {
      if (gate.held !== 0 || waiting !== 0)
        this.fail("2", `${gate.held} held and ${waiting} waiting at the end`);
    }
    for (const { reserved } of budgets) {
      if (reserved !== 0) this.fail("10", `${reserved} tokens reserved at the end`);
    }
    for (const { leaf } of stacks) {
      if (leaf.abandoned !== 0) this.fail("2", `${leaf.abandoned} abandoned at the end`);
    }
    for (const machine of breakers) {
      if (machine.ask(runtime.now() + laterMs) === "refuse") this.fail("3", "a breaker is jammed");
    }
  }

  #shapeOf(call: CallRun): Shape {
    return this.#shapes[call.spec.stack] as Shape;
  }
}

/** Whether an attempt is a probe, or one of the attempts of a sequence that is. A probe's limit replaces its own. */
function isProbing(attempt: Attempt): boolean {
  if (attempt.kind === "probe") return true;
  for (let { outer } = attempt; outer !== null; { outer } = outer) if (outer.kind === "probe") return true;
  return false;
}
