/** How many substitutes may be in flight: in an outage all calls come here at once, and what serves them must not drown. */
import type { Admitter, Permit } from "../admitter.ts";
import { Gate } from "../bulkhead/machine.ts";
import { type Rejected, rejected } from "../call.ts";

const FULL: Rejected = rejected("fallback", "full");

/** The places of a fallback. Nobody waits for one. */
export class FallbackPlaces implements Admitter, Permit {
  readonly name = "fallback";
  readonly timed = false;
  private readonly gate: Gate;

  constructor(limit: number, field: string) {
    this.gate = new Gate(limit, field);
  }

  get mayRefuse(): boolean {
    return !this.gate.free;
  }

  check(): Rejected | null {
    return this.gate.free ? null : FULL;
  }

  take(): Permit {
    this.gate.take();
    return this;
  }

  settle(): void {}

  release(): void {
    this.gate.release();
  }
}
