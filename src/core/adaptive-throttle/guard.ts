/** The adaptive throttle as an admitter: asks `machine.ts`, and tells it what became of every call. */
import { type Rejected, rejected } from "../call.ts";
import type { Evidence } from "../evidence.ts";
import type { Runtime } from "../runtime.ts";
import { ShareGuard } from "../share.ts";
import type { Guard } from "../stack.ts";
import { AdaptiveThrottle, type AdaptiveThrottleOptions } from "./machine.ts";

const THROTTLED: Rejected = rejected("adaptiveThrottle", "the dependency is refusing");

/** A throttle in a run. */
export class AdaptiveThrottleGuard extends ShareGuard<AdaptiveThrottle> {
  override readonly name = "adaptiveThrottle";
  protected override readonly refusal: Rejected = THROTTLED;

  constructor(options: AdaptiveThrottleOptions, runtime: Runtime, stream: string, field?: string) {
    super(runtime, `adaptive throttle ${stream}`, (draw) => new AdaptiveThrottle(options, draw, field));
  }

  /** It has refused a call itself: that was wanted too, and was not accepted. */
  override hasRefused(asking: unknown, now: number): void {
    super.hasRefused(asking, now);
    this.machine.record(false, now);
  }

  override settle(evidence: Evidence): void {
    const accepted = this.accepted(evidence);
    if (accepted !== null) this.machine.record(accepted, this.runtime.now());
  }

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
