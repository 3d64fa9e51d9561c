/** The partial breaker as an admitter: asks `machine.ts`, and tells it how calls ended. */
import { type Rejected, rejected } from "../call.ts";
import type { Evidence } from "../evidence.ts";
import type { Runtime } from "../runtime.ts";
import { ShareGuard } from "../share.ts";
import type { Guard } from "../stack.ts";
import { PartialBreaker, type PartialBreakerOptions } from "./machine.ts";

const OPEN_IN_PART: Rejected = rejected("partialBreaker", "open in part");

/** A partial breaker in a run. */
export class PartialBreakerGuard extends ShareGuard<PartialBreaker> {
  override readonly name = "partialBreaker";
  protected override readonly refusal: Rejected = OPEN_IN_PART;

  constructor(options: PartialBreakerOptions, runtime: Runtime, stream: string, field?: string) {
    super(runtime, `partial breaker ${stream}`, (draw) => new PartialBreaker(options, draw, field));
  }

  override settle({ breaker }: Evidence): void {
    if (breaker !== "ignored") this.machine.record(breaker === "failure", this.runtime.now());
  }
}

/** A partial breaker as a layer of a stack, where a breaker would stand. */
export function partialBreaker(options: PartialBreakerOptions = {}, field = "partialBreaker"): Guard {
  return {
    name: "partialBreaker",
    bind: ({ runtime, dependency, operation }) =>
      new PartialBreakerGuard(options, runtime, `${dependency}.${operation}`, field),
  };
}
