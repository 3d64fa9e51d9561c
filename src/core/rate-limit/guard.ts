/**
 * The rate limit as an admitter: a quota that this process keeps towards a dependency. A call pays when it is let in,
 * whatever becomes of it; who cannot pay is refused at once, with the time until they could.
 */
import type { Admission } from "../admission.ts";
import type { Admitter, Asking, Permit } from "../admitter.ts";
import { type Call, type Rejected, rejected } from "../call.ts";
import { PerKey, type PerKeyOptions } from "../keyed/per-key.ts";
import { checkFunction, checkNumber, checkObject } from "../options.ts";
import type { Guard } from "../stack.ts";
import { type RateOptions, TokenBucket } from "./machine.ts";

/** Options of `rateLimit`. */
export interface RateLimitOptions extends RateOptions {
  /**
   * What a call costs; above 0, at most `burst`. Default 1 for every call. Called each time a call asks, so it should be
   * cheap, and say the same again.
   */
  readonly cost?: (call: Call) => number;
}

const TOO_LARGE: Rejected = rejected("rateLimit", "costs more than the burst");
const NOTHING: Permit = { settle() {}, release() {} };

/** A rate limit in a run. Pass one guard to several operations to share it. */
export class RateLimit implements Admitter {
  readonly name = "rateLimit";
  readonly timed = true;
  readonly bucket: TokenBucket;
  private readonly costOf: ((call: Call) => number) | null;
  /** Who asked last, and what it would cost: it is taken in the same step, where nothing of the user's may throw. */
  private asked: Asking | null = null;
  private price = 1;

  constructor(options: RateLimitOptions, field = "rateLimit") {
    checkObject(field, options);
    const { cost, ...rate } = options;
    this.bucket = new TokenBucket(rate, field);
    this.costOf = cost === undefined ? null : checkFunction(`${field}.cost`, cost);
  }

  get mayRefuse(): boolean {
    return true;
  }

  check(asking: Asking, now: number): Rejected | null {
    if (this.costOf !== null) {
      this.asked = null;
      this.price = this.cost(asking.call);
      this.asked = asking;
    }
    const waitMs = this.bucket.waitMs(this.price, now);
    if (waitMs === 0) return null;
    return waitMs === Infinity ? TOO_LARGE : rejected("rateLimit", "spent", waitMs);
  }

  take(admission: Admission, now: number): Permit {
    const known = this.costOf === null || this.asked === admission;
    this.asked = null;
    this.bucket.take(known ? this.price : this.cost(admission.call), now);
    return NOTHING;
  }

  private cost(call: Call): number {
    if (this.costOf === null) return 1;
    return checkNumber("what rateLimit.cost() returned", this.costOf(call), { above: 0 });
  }
}

/** A quota for each key. One that is forgotten is whole again: keep keys for longer than `windowMs`. */
export class KeyedRateLimits extends PerKey<RateLimit> {
  constructor(options: RateLimitOptions, perKey: PerKeyOptions, field: string) {
    super("rateLimit", () => new RateLimit(options, field), perKey, `${field}.perKey`);
  }
}

/** A rate limit as a layer of a stack. Pass a `RateLimit` instead of options to share it. */
export function rateLimit(options: RateLimitOptions | RateLimit, field = "rateLimit"): Guard {
  return {
    name: "rateLimit",
    bind: () => (options instanceof RateLimit ? options : new RateLimit(options, field)),
  };
}
