// Every attempt (laws 1, 2, 9): its ending is true, it takes no longer than it may, and what it leaves behind is told
// that it is given up, and is counted.
import { aroundOf } from "../around.ts";
import type { WorkRun } from "../records.ts";
import { FAILURES, Law, SUCCESSES } from "./law.ts";

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

export class Attempts extends Law {
  override ends(run: WorkRun, ending: string): void {
    this.honest(run, ending);
  }

  /** Whether the ending is true: of a substitute's attempt, too. */
  honest(run: WorkRun, ending: string): void {
    const { attempt, sender } = run;
    const hedged = this.scene.shapes[sender.spec.stack]?.hedged === true;
    if (ending === "timeout" && this.now - attempt.sentAt < attempt.timeoutMs)
      this.fail("9", "timed out too early");
    else if (ending === "clipped" && this.now < attempt.call.deadline)
      this.fail("9", "clipped before its deadline");
    else if (ending === "cancelled" && sender === run.call && run.call.cancelled === null && !hedged)
      this.fail("1", "an attempt was cancelled, and its call was not");
    else if (ending === "hedgeLoser" && !hedged) this.fail("3", "a loser without a race");
    else if ((FAILURES.has(ending) || SUCCESSES.has(ending)) && ending !== "timeout") {
      if (!run.reported) this.fail("1", `answered ${ending} by work that has not ended`);
      const own = run.judged === null ? null : OWN[run.judged];
      // A classifier that throws makes it permanent; work that reports an end of the other kind makes it ok.
      if (own !== null && own !== ending && ending !== "permanent" && ending !== "ok")
        this.fail("1", `a work gave ${run.judged}, and its attempt was answered ${ending}`);
    }
  }

  override look(): void {
    for (const run of this.world.live) this.#lookAt(run);
    this.#countAbandoned();
  }

  #lookAt({ attempt, sender, listening, reported, heardOfAbort }: WorkRun): void {
    if (this.scene.exact && attempt.state === "sent" && this.now > attempt.deadline)
      this.fail("9", `an attempt of ${sender.name} is over its time`);
    if (attempt.state === "answered" && listening && !reported && !heardOfAbort)
      this.fail("2", "a work was given up and not told");
  }

  /** Attempts answered by something else than their own end, and not ended. */
  #countAbandoned(): void {
    const { parts, live, workOf } = this.world;
    const { sure, possible } = aroundOf(this.world);
    const [least, most] = [parts.stacks.map(() => 0), parts.stacks.map(() => 0)];
    const runs = [...possible].flatMap((admission) => workOf.get(admission) ?? []);
    for (const run of new Set([...live, ...runs])) {
      const { attempt, reported } = run;
      const { stack } = run.sender.spec;
      if (attempt.state !== "answered") continue;
      most[stack] = (most[stack] as number) + 1;
      // A body that is still open, or a call within, is no abandoned work until its time is over.
      const overdue = this.scene.exact && this.now > attempt.deadline && (live.has(run) || sure.has(attempt));
      if (!reported || overdue) least[stack] = (least[stack] as number) + 1;
    }
    parts.stacks.forEach(({ abandoned }, index) => {
      if (abandoned < (least[index] as number) || abandoned > (most[index] as number))
        this.fail("2", `${abandoned} abandoned, and there are ${least[index]} to ${most[index]}`);
    });
  }

  override end(): void {
    for (const { abandoned } of this.world.parts.stacks)
      if (abandoned !== 0) this.fail("2", `${abandoned} abandoned at the end`);
  }
}
