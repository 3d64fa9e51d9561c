/** The flat run of guards that an admission asks: neighbouring admitters, folded into one. */
import type { Admission } from "./admission.ts";
import type { Admitter, Asking, Permit } from "./admitter.ts";
import type { Rejected } from "./call.ts";
import { OptionError } from "./errors.ts";
import type { Room } from "./room.ts";

/** All are asked before any is taken: so none may stand there twice, and nobody can wait in two rooms. */
function checkRun(admitters: readonly Admitter[]): void {
  const names = admitters.map((admitter) => admitter.name).join(" · ");
  const machines = new Set(admitters.map((admitter) => admitter.machine ?? admitter));
  if (machines.size < admitters.length) {
    throw new OptionError("stack", names, "the same guard once among neighbours");
  }
  if (admitters.filter((admitter) => admitter.queues === true).length > 1) {
    throw new OptionError("stack", names, "one queue among neighbours: leave the others' `maxWaiting` at 0");
  }
}

/** Neighbouring admitters, asked as one. */
export class Run {
  readonly admitters: readonly Admitter[];
  /** Whether any of them wants to hear of refusals. */
  readonly hearsRefusals: boolean;
  /** Which of them did not admit the last call that was not admitted: two may have the same name. */
  private refuser: Admitter | null = null;
  /** What was taken last. Permits are mostly the same objects again, and then so is the list. */
  private last: readonly Permit[] = [];

  constructor(admitters: readonly Admitter[]) {
    checkRun(admitters);
    this.admitters = admitters;
    this.hearsRefusals = admitters.some(
      (each) => each.refusedWithin !== undefined || each.hasRefused !== undefined,
    );
  }

  /** Whether one that may refuse at present looks at the clock. */
  get timed(): boolean {
    const { admitters } = this;
    for (let i = 0; i < admitters.length; i++) {
      const admitter = admitters[i] as Admitter;
      if (admitter.timed && admitter.mayRefuse) return true;
    }
    return false;
  }

  /** Whether any of them may refuse at present. */
  get mayRefuse(): boolean {
    const { admitters } = this;
    for (let i = 0; i < admitters.length; i++) if ((admitters[i] as Admitter).mayRefuse) return true;
    return false;
  }

  /** The first refusal, else the room to wait in, else null. */
  check(asking: Asking, now: number): Rejected | Room | null {
    let room: Room | null = null;
    const { admitters } = this;
    for (let i = 0; i < admitters.length; i++) {
      const answer = (admitters[i] as Admitter).check(asking, now);
      if (answer === null) continue;
      this.refuser = admitters[i] as Admitter;
      if (answer.kind === "rejected") return answer;
      room = answer;
    }
    return room;
  }

  /** Tells the guards in front of the one that refused, and that one. */
  refusedBy(refusal: Rejected, asking: Asking, now: number): void {
    for (const admitter of this.admitters) {
      if (admitter === this.refuser && admitter.name === refusal.by)
        return admitter.hasRefused?.(asking, now);
      admitter.refusedWithin?.(asking, now);
    }
  }

  /** Takes every place. */
  take(admission: Admission, now: number): readonly Permit[] {
    const { admitters } = this;
    let permits = this.last;
    for (let i = 0; i < admitters.length; i++) {
      const permit = (admitters[i] as Admitter).take(admission, now);
      if (permit !== permits[i]) permits = replaced(permits, i, permit);
    }
    this.last = permits;
    return permits;
  }
}

/** The list with another permit at `index`. The one before may be held by somebody, so it stays as it is. */
function replaced(permits: readonly Permit[], index: number, permit: Permit): readonly Permit[] {
  const others = [...permits];
  others[index] = permit;
  return others;
}
