/**
 * Guards that refuse a share of the calls. Chance is drawn after a decision, for the next one: asking must change nothing,
 * because a run is asked again when a waiter is called.
 */
import type { Admission } from "./admission.ts";
import type { Admitter, Permit } from "./admitter.ts";
import type { Rejected } from "./call.ts";
import type { Evidence } from "./evidence.ts";
import type { Runtime } from "./runtime.ts";

/** A machine that refuses a share of what it is asked. */
export interface Share {
  /** Whether anything could be refused at present, without a look at the clock. */
  readonly mayRefuse: boolean;
  /** Whether the next call is refused. The same answer until `decided`. */
  refuses(now: number): boolean;
  /** The next call has been decided on; `draw`, uniform in [0, 1), decides on the one after it. */
  decided(draw: number): void;
}

/** Such a guard in a run. It is its own permit: it holds nothing, and hears how every call was answered. */
export abstract class ShareGuard<M extends Share> implements Admitter, Permit {
  readonly timed = true;
  readonly machine: M;
  abstract readonly name: string;
  protected abstract readonly refusal: Rejected;
  protected readonly runtime: Runtime;
  private readonly random: () => number;

  /** `make` is given the first draw. */
  constructor(runtime: Runtime, stream: string, make: (draw: number) => M) {
    const random = runtime.random.fork(stream);
    this.random = () => random.next();
    this.runtime = runtime;
    this.machine = make(random.next());
  }

  get mayRefuse(): boolean {
    return this.machine.mayRefuse;
  }

  check(_asking: unknown, now: number): Rejected | null {
    return this.machine.mayRefuse && this.machine.refuses(now) ? this.refusal : null;
  }

  take(): Permit {
    if (this.machine.mayRefuse) this.machine.decided(this.random());
    return this;
  }

  /** It has refused a call itself. */
  hasRefused(_asking: unknown, _now: number): void {
    this.machine.decided(this.random());
  }

  abstract settle(evidence: Evidence, admission: Admission): void;

  release(): void {}
}
