// Runs a program: starts its calls, does its works and its callbacks' deeds, and lets the checker look.
import {
  type Attempt,
  BreakerPolicy,
  breaker,
  bulkhead,
  CircuitBreaker,
  deadline,
  degraded,
  EVENTS_VERSION,
  type Exit,
  type FailureClass,
  failed,
  fallback,
  fullJitter,
  type Guard,
  hedge,
  type Judge,
  type Outcome,
  ok,
  type PlimsollEvent,
  RetryBudget,
  type Runtime,
  retry,
  SeededRandom,
  Stack,
  timeout,
} from "../../src/core/index.ts";
import { Checker } from "./checker.ts";
import type { Deed, GuardSpec, Program, Site, StackSpec, WorkSpec } from "./program.ts";
import { CallRun, WatchedBulkhead, WorkRun } from "./records.ts";

/** Thrown on purpose by a callback. Whatever else reaches `uncaught` is a fault of the kernel. */
export class Planned extends Error {}

/** What a work of the program throws. */
class WorkError extends Error {
  readonly run: WorkRun;

  constructor(run: WorkRun) {
    super(run.mark.work);
    this.run = run;
  }
}

/** Where the outside world's doings wait: promises, sockets and callers, none of them timers of the kernel's. */
export interface Agenda {
  at(delayMs: number, does: () => void): void;
}

const CLASSES: Record<string, [FailureClass, Parameters<typeof failed>[2]]> = {
  transient: ["transient", {}],
  throttled: ["throttling", { effect: "none", pushback: 2 }],
  told: ["throttling", { pushback: "never" }],
  permanent: ["permanent", {}],
  unsent: ["transient", { effect: "none", ended: "unsent" }],
};

/** A program in progress. */
export class World {
  readonly program: Program;
  readonly runtime: Runtime;
  readonly agenda: Agenda;
  readonly bulkheads: readonly WatchedBulkhead[];
  readonly breakers: readonly CircuitBreaker[];
  readonly budgets: readonly RetryBudget[];
  readonly stacks: readonly Stack[];
  readonly calls: readonly CallRun[];
  readonly checker: Checker;
  readonly log: string[] = [`events ${EVENTS_VERSION}`];
  /** Works that have not ended. */
  readonly live: Set<WorkRun> = new Set();
  readonly random: SeededRandom;
  readonly #byId: CallRun[] = [];

  constructor(
    program: Program,
    runtime: Runtime,
    agenda: Agenda,
    how: { generators: boolean; exact: boolean },
  ) {
    this.program = program;
    this.runtime = runtime;
    this.agenda = agenda;
    this.random = new SeededRandom(program.seed).fork("world");
    this.bulkheads = program.bulkheads.map(({ limit, maxWaiting, maxWaitMs, reclaimMs }) => {
      const reclaim = reclaimMs === null ? {} : { reclaimAbandonedAfterMs: reclaimMs };
      return new WatchedBulkhead({ limit, queue: { maxWaiting, maxWaitMs }, ...reclaim }, runtime);
    });
    this.breakers = program.breakers.map(({ probeTimeoutMs, ...options }) => {
      const own = probeTimeoutMs === null ? {} : { probeTimeoutMs };
      return new CircuitBreaker(new BreakerPolicy({ ...options, ...own }));
    });
    this.budgets = program.budgets.map((options) => new RetryBudget(options));
    this.stacks = program.stacks.map((spec, index) => this.#stack(spec, index, how.generators));
    this.calls = program.calls.map((spec, index) => new CallRun(index, spec));
    this.checker = new Checker(this, how.exact);
    runtime.sink = (event) => this.#hear(event);
  }

  /** Puts everything that happens by itself on the agenda. */
  begin(): void {
    for (const call of this.calls) {
      const { at, nested } = call.spec;
      if (at === null) continue;
      this.agenda.at(at, () => {
        if (nested) this.runtime.loop.deliver(() => this.start(call.index), undefined);
        else this.start(call.index);
      });
    }
    for (const act of this.program.acts) this.agenda.at(act.at, () => this.#act(act));
  }

  start(index: number): void {
    const call = this.calls[index];
    if (call === undefined || call.started) return;
    const { spec } = call;
    const { runtime } = this;
    call.started = true;
    call.startedAt = runtime.now();
    if (spec.withinMs !== null) call.deadline = call.startedAt + spec.withinMs;
    this.#byId.push(call);
    const fields = {
      criticality: "critical" as const,
      tenant: `${index}`,
      key: "",
      idempotencyKey: spec.keyed ? "k" : undefined,
      bytes: 0,
    };
    const work = (attempt: Attempt): void => {
      const script = spec.works[Math.min(call.works.length, spec.works.length - 1)] as WorkSpec;
      this.#perform(call, attempt, script, false);
    };
    const answer = { answered: (exit: Exit) => this.#answered(call, exit) };
    call.process = (this.stacks[spec.stack] as Stack).start(work, fields, call.deadline, answer);
    if (call.cancelPending) this.cancel(call);
    if (spec.cancelAfterMs !== null) this.agenda.at(spec.cancelAfterMs, () => this.cancel(call));
  }

  /** Cancels, and looks at once whether that was heard (law 1). */
  cancel(call: CallRun): void {
    if (!call.started) return;
    const { process } = call;
    if (process === null) {
      call.cancelPending = true;
      return;
    }
    const before = process.exit;
    const reason = { cancelled: call.index };
    if (before === null) call.cancelled = { reason };
    process.cancel(reason);
    const { exit } = process;
    if (before !== null) {
      if (exit !== before) this.checker.fail("1", `call ${call.index} had ended, and a cancel changed that`);
    } else if (exit?.kind !== "cancelled" || exit.reason !== reason)
      this.checker.fail("1", `call ${call.index} was cancelled and is not`);
    else if (!this.runtime.loop.running && call.answers.length !== 1)
      this.checker.fail("1", `call ${call.index} was cancelled and got no answer at once`);
  }

  /** Ends a work, as if its promise settled now. */
  end(run: WorkRun): void {
    if (run.reported) return;
    run.reported = true;
    if (run.over) this.live.delete(run);
    const { attempt, spec } = run;
    const good = spec.result === "ok" || spec.result === "degraded";
    const value = run.isFallback ? run.mark : run; // nobody judges a substitute
    if (good) attempt.succeed(value);
    else attempt.fail(new WorkError(run));
    if (spec.twice) {
      if (good) attempt.fail(new WorkError(run));
      else attempt.succeed(value);
    }
  }

  /** Closes a work's body. */
  close(run: WorkRun): void {
    if (!run.holding) return;
    run.holding = false;
    if (run.over) this.live.delete(run);
    run.release?.();
    run.release?.();
  }

  #perform(call: CallRun, attempt: Attempt, spec: WorkSpec, isFallback: boolean): void {
    const run = new WorkRun(call, attempt, spec, this.runtime.now(), isFallback);
    (isFallback ? call.fallbackWorks : call.works).push(run);
    this.live.add(run);
    this.checker.workStarts(run);
    if (spec.listens !== "no") this.#listen(run);
    if (spec.holdMs !== null) {
      run.release = attempt.hold();
      run.holding = true;
    }
    try {
      if (isFallback) this.#site(call, "fallback");
      if (spec.deed !== null) this.#do(spec.deed, call);
    } catch (error) {
      this.#thrown(run);
      throw error;
    }
    if (spec.how === "sync") this.#endAndClose(run);
    else if (spec.how === "async") this.agenda.at(spec.afterMs, () => this.#endAndClose(run));
    else if (spec.how === "throws" && !run.reported) {
      this.#thrown(run);
      throw new WorkError(run);
    }
  }

  /** Ends by throwing before it has returned. */
  #thrown(run: WorkRun): void {
    run.reported = true;
    this.#closeLater(run);
    if (run.over) this.live.delete(run);
  }

  #endAndClose(run: WorkRun): void {
    this.#closeLater(run);
    this.end(run);
  }

  #closeLater(run: WorkRun): void {
    if (run.holding) this.agenda.at(run.spec.holdMs ?? 0, () => this.close(run));
  }

  #listen(run: WorkRun): void {
    const { attempt, spec, call } = run;
    run.listening = true;
    const heard = (reason: unknown): void => {
      run.heardOfAbort = true;
      if (reason === undefined) this.checker.fail("2", "an attempt was given up without a reason");
      if (spec.obeysAfterMs === 0) this.#endAndClose(run);
      else if (spec.obeysAfterMs !== null) this.agenda.at(spec.obeysAfterMs, () => this.#endAndClose(run));
      if (spec.listens === "onAbort") this.#site(call, "abort");
    };
    if (spec.listens === "onAbort") attempt.onAbort(heard);
    else attempt.signal.addEventListener("abort", () => heard(attempt.signal.reason));
  }

  readonly #judge: Judge = (result, attempt): Outcome | undefined => {
    const run = "error" in result ? (result.error as { run?: WorkRun }).run : (result.value as WorkRun);
    if (!(run instanceof WorkRun)) return undefined; // a planned throw: the library's own judgement
    if (run.attempt !== attempt) this.checker.fail("4", "a work was judged for another attempt");
    if (run.isFallback) this.checker.fail("4", "a substitute was judged");
    this.#site(run.call, "classify");
    const { result: how } = run.spec;
    if (!("error" in result) && how !== "ok" && how !== "degraded") return ok(run.mark);
    if (how === "unsent") run.unsent = run.attempt.state === "sent";
    run.judged = how;
    if (how === "ok") return ok(run.mark);
    if (how === "degraded") return degraded(run.mark);
    if (how === "unclassified") return undefined;
    const [failureClass, more] = CLASSES[how] as (typeof CLASSES)[string];
    return failed((result as { error: unknown }).error, failureClass, more);
  };

  #answered(call: CallRun, exit: Exit): void {
    call.answers.push(exit);
    this.checker.answered(call, exit);
    this.#site(call, "answer");
  }

  #hear(event: PlimsollEvent): void {
    this.log.push(JSON.stringify(event));
    if (event.type === "breaker.changed") this.checker.breakerChanged(event);
    if (event.call === 0) return;
    const call = this.#byId[event.call - 1] as CallRun;
    this.checker.event(call, event);
    this.#site(call, event.type as Site);
  }

  /** A callback of this call runs: does what the program wants done there. */
  #site(call: CallRun, site: Site): void {
    const { deeds } = call.spec;
    if (deeds.length === 0) return;
    const count = call.siteCounts.get(site) ?? 0;
    call.siteCounts.set(site, count + 1);
    for (const { site: where, nth, deed } of deeds) {
      if (where === site && nth === count) this.#do(deed, call);
    }
  }

  #do(deed: Deed, own: CallRun | null): void {
    if (deed.do === "throw") throw new Planned("on purpose");
    if (deed.do === "resize") {
      this.bulkheads[deed.bulkhead]?.resize(deed.limit);
      return;
    }
    const targets = deed.call >= 0 ? [this.calls[deed.call] as CallRun] : own !== null ? [own] : this.calls;
    for (const call of targets) {
      if (deed.do === "cancel") this.cancel(call);
      else if (deed.do === "start") this.start(call.index);
      else for (const work of [...this.live]) if (work.call === call) this.#endAndClose(work);
    }
  }

  #act(act: Program["acts"][number]): void {
    if ("resize" in act) this.bulkheads[act.resize]?.resize(act.limit);
    else {
      const machine = this.breakers[act.breaker];
      if (machine !== undefined) machine.mode = act.mode;
    }
  }

  #stack(spec: StackSpec, index: number, generators: boolean): Stack {
    const { idempotent, minUsefulMs, budget } = spec;
    return new Stack(
      {
        runtime: this.runtime,
        dependency: "stock",
        operation: `s${index}`,
        idempotent,
        minUsefulMs,
        budget: budget === null ? null : (this.budgets[budget] as RetryBudget),
        perform: (attempt, work) => (work as (attempt: Attempt) => void)(attempt),
        judge: this.#judge,
        generators,
      },
      spec.guards.map((guard) => this.#guard(guard, spec)),
    );
  }

  #guard(guard: GuardSpec, { backoffDeeds }: StackSpec): Guard {
    if (guard.kind === "retry") return this.#retry(guard, backoffDeeds);
    if (guard.kind === "hedge")
      return hedge({ delayMs: guard.delayMs, onFailure: guard.delayMs % 3 === 0 ? "next" : "stop" });
    if (guard.kind === "deadline") return deadline(guard.ms);
    if (guard.kind === "timeout") return timeout(guard.ms);
    if (guard.kind === "breaker") return breaker(this.breakers[guard.of] as CircuitBreaker);
    if (guard.kind === "bulkhead") return bulkhead(this.bulkheads[guard.of] as WatchedBulkhead);
    const { reserveMs, timeoutMs, permanent, work } = guard as GuardSpec & { kind: "fallback" };
    const run = (_because: unknown, attempt: Attempt): void => {
      this.#perform(this.calls[Number(attempt.call.tenant)] as CallRun, attempt, work, true);
    };
    return fallback({ run, reserveMs, timeoutMs, permanent });
  }

  #retry(guard: GuardSpec & { kind: "retry" }, deeds: StackSpec["backoffDeeds"]): Guard {
    const { attempts, waits } = guard;
    if (waits === "jitter") return retry({ attempts, backoff: fullJitter({ baseMs: 8, capMs: 30 }) });
    let uses = 0;
    const backoff = (repeat: number): number => {
      const nth = uses++;
      for (const { nth: which, deed } of deeds) if (which === nth) this.#do(deed, null);
      return waits[Math.min(repeat, waits.length) - 1] as number;
    };
    return retry({ attempts, backoff });
  }
}
