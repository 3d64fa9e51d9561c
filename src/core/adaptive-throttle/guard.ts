/** The adaptive throttle as an admitter: asks `machine.ts`, and tells it what became of every call. */
import type { Admission } from "../admission.ts";
import type { Admitter, Permit } from "../admitter.ts";
import { type Rejected, rejected } from "../call.ts";
import type { Evidence } from "../evidence.ts";
import type { Runtime } from "../runtime.ts";
import type { Guard } from "../stack.ts";
import { AdaptiveThrottle, type AdaptiveThrottleOptions } from "./machine.ts";

const THROTTLED: Rejected = rejected("adaptiveThrottle", "the dependency is refusing");

/** A throttle in a run. It is its own permit: it holds nothing, and hears how every call was answered. */
export class AdaptiveThrottleGuard implements Admitter, Permit {
  readonly name = "adaptiveThrottle";
  readonly timed = true;
  readonly machine: AdaptiveThrottle;
  private readonly runtime: Runtime;
  private readonly random: () => number;

  constructor(options: AdaptiveThrottleOptions, runtime: Runtime, stream: string, field?: string) {
    const random = runtime.random.fork(`adaptive throttle ${stream}`);
    this.random = () => random.next();
    this.runtime = runtime;
    this.machine = new AdaptiveThrottle(options, random.next(), field);
  }

  get mayRefuse(): boolean {
    return this.machine.mayRefuse;
  }

  check(_asking: unknown, now: number): Rejected | null {
    return this.machine.mayRefuse && this.machine.refuses(now) ? THROTTLED : null;
  }

  take(): Permit {
    if (this.machine.mayRefuse) this.machine.decided(this.random());
    return this;
  }

  /** It has refused a call itself: that was wanted too, and was not accepted. */
  hasRefused(_asking: unknown, now: number): void {
    this.machine.decided(this.random());
    this.machine.record(false, now);
  }

  settle(evidence: Evidence, _admission: Admission): void {
    const accepted = this.accepted(evidence);
    if (accepted !== null) this.machine.record(accepted, this.runtime.now());
  }

  release(): void {}

  /** Null where an ending says nothing. */
  private accepted({ adaptiveThrottle, breaker }: Evidence): boolean | null {
    if (adaptiveThrottle === "accept") return true;
    if (adaptiveThrottle === "reject") return false;
    return this.machine.rejects === "failures" && breaker === "failure" ? false : null;
  }
}

/** An adaptive throttle as a layer of a stack. */
export function adaptiveThrottle(options: AdaptiveThrottleOptions = {}, field = "adaptiveThrottle"): Guard {
  return {
    name: "adaptiveThrottle",
    bind: ({ runtime, dependency, operation }) =>
      new AdaptiveThrottleGuard(options, runtime, `${dependency}.${operation}`, field),
  };
}
