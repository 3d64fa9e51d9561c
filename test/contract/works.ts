// What the works of a program do: they begin, choose, listen, end, throw, and outlive their answers, as it is scripted.
import {
  type Attempt,
  degraded,
  type FailureClass,
  failed,
  type Judge,
  type Outcome,
  ok,
} from "../../src/core/index.ts";
import { OURS } from "./build.ts";
import type { FallbackSpec, WorkSpec } from "./program.ts";
import { type Fields, outerAttempt, WorkRun } from "./records.ts";
import type { World } from "./world.ts";

/** What a work of the program throws. */
class WorkError extends Error {
  readonly run: WorkRun;

  constructor(run: WorkRun) {
    super(run.mark.work);
    this.run = run;
  }
}

const CLASSES: Record<string, [FailureClass, Parameters<typeof failed>[2]]> = {
  transient: ["transient", {}],
  throttled: ["throttling", { effect: "none", pushback: 2 }],
  told: ["throttling", { pushback: "never" }],
  permanent: ["permanent", {}],
  unsent: ["transient", { effect: "none", ended: "unsent" }],
};

const DESTINATIONS = ["a", "b", "c"];

/** Does the works of a world's calls, and of their fallbacks. */
export class Works {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Ends a work, as if its promise settled now. */
  end(run: WorkRun): void {
    if (run.reported) return;
    this.sayBegun(run, "end");
    if (run.reported) return;
    this.#reported(run);
    const { attempt, spec } = run;
    const good = spec.result === "ok" || spec.result === "degraded";
    const value = run.isFallback ? run.mark : run; // nobody judges a substitute
    if (good) attempt.succeed(value);
    else attempt.fail(new WorkError(run));
    if (spec.twice) {
      if (good) attempt.fail(new WorkError(run));
      else attempt.succeed(value);
    }
    this.sayBegun(run, "afterEnd");
  }

  /** Closes a work's body. */
  close(run: WorkRun): void {
    if (!run.holding) return;
    run.holding = false;
    this.#perhapsOver(run);
    run.release?.();
    run.release?.();
  }

  #reported(run: WorkRun): void {
    run.reported = true;
    run.endedAt = this.#world.runtime.now();
    this.#perhapsOver(run);
  }

  /** One that has ended is no longer a part of what it was made within. */
  #perhapsOver(run: WorkRun): void {
    if (!run.over || !this.#world.live.delete(run)) return;
    for (let at = run; !at.alive && at.within !== null; at = at.within) at.within.nested--;
  }

  perform(attempt: Attempt, spec: WorkSpec, fallback: FallbackSpec | null): typeof OURS {
    const sender = this.#world.sender(attempt.call.id, (attempt.call.fields as Fields).run);
    const outer = outerAttempt(attempt);
    const around = outer === null ? undefined : this.#world.workOf.get(outer);
    const within = around?.alive === true ? around : null;
    const run = new WorkRun(sender, attempt, spec, this.#world.runtime.now(), fallback, within);
    if (within !== null) within.nested++;
    (fallback === null ? sender.works : sender.fallbackWorks).push(run);
    this.#world.live.add(run);
    this.#world.workOf.set(attempt, run);
    this.#world.byMark.set(run.mark, run);
    this.#world.checker.tell((law) => law.starts(run));
    if (fallback === null) this.#choose(run);
    if (spec.listens !== "no") this.#listen(run);
    if (spec.holdMs !== null) {
      run.release = attempt.hold();
      run.holding = true;
    }
    try {
      this.sayBegun(run, "start");
      if (fallback !== null) this.#world.site(run.call, "fallback", run);
      if (spec.deed !== null) this.#world.do(spec.deed, run.call, run);
    } catch (error) {
      this.#thrown(run);
      throw error;
    }
    if (spec.begins.includes("later"))
      this.#world.agenda.at(spec.afterMs >> 1, () => this.sayBegun(run, "later"));
    if (spec.how === "sync") this.endAndClose(run);
    else if (spec.how === "async") this.#world.agenda.at(spec.afterMs, () => this.endAndClose(run));
    else if (spec.how === "throws" && !run.reported) {
      this.#thrown(run);
      throw new WorkError(run);
    }
    return OURS;
  }

  #choose(run: WorkRun): void {
    for (const count of run.spec.chooses) {
      const from = DESTINATIONS.slice(0, count);
      const chosen = run.attempt.choose(from);
      this.#world.log.push(`${run.mark.work} goes to ${chosen}`);
      this.#world.checker.tell((law) => law.chosen(run, from, chosen));
    }
  }

  /** The callee says that it has begun, as often as the program wants it said at this moment. */
  sayBegun(run: WorkRun, moment: WorkSpec["begins"][number] | null): void {
    const times = moment === null ? 1 : run.spec.begins.filter((each) => each === moment).length;
    for (let i = 0; i < times; i++) {
      this.#world.checker.tell((law) => law.begun(run));
      run.attempt.started();
    }
  }

  /** Ends by throwing before it has returned. */
  #thrown(run: WorkRun): void {
    this.#closeLater(run);
    this.#reported(run);
  }

  endAndClose(run: WorkRun): void {
    this.#closeLater(run);
    this.end(run);
  }

  #closeLater(run: WorkRun): void {
    if (run.holding) this.#world.agenda.at(run.spec.holdMs ?? 0, () => this.close(run));
  }

  #listen(run: WorkRun): void {
    const { attempt, spec, call } = run;
    run.listening = true;
    const heard = (reason: unknown): void => {
      run.heardOfAbort = true;
      if (reason === undefined) this.#world.checker.fail("2", "an attempt was given up without a reason");
      this.sayBegun(run, "abort");
      if (spec.obeysAfterMs === 0) this.endAndClose(run);
      else if (spec.obeysAfterMs !== null)
        this.#world.agenda.at(spec.obeysAfterMs, () => this.endAndClose(run));
      if (spec.listens === "onAbort") this.#world.site(call, "abort", run);
    };
    if (spec.listens === "onAbort") attempt.onAbort(heard);
    else attempt.signal.addEventListener("abort", () => heard(attempt.signal.reason));
  }

  readonly judge: Judge = (result, attempt): Outcome | undefined => {
    const run = "error" in result ? (result.error as { run?: WorkRun }).run : (result.value as WorkRun);
    if (!(run instanceof WorkRun)) return undefined; // a planned throw: the library's own judgement
    if (run.attempt !== attempt) this.#world.checker.fail("4", "a work was judged for another attempt");
    if (run.isFallback) this.#world.checker.fail("4", "a substitute was judged");
    this.#world.site(run.call, "classify", run);
    const { result: how } = run.spec;
    if (!("error" in result) && how !== "ok" && how !== "degraded") return ok(run.mark);
    run.judged = how;
    if (how === "ok") return ok(run.mark);
    if (how === "degraded") return degraded(run.mark);
    if (how === "unclassified") return undefined;
    const [failureClass, more] = CLASSES[how] as (typeof CLASSES)[string];
    return failed((result as { error: unknown }).error, failureClass, more);
  };
}
