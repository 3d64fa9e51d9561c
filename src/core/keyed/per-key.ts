/** An admitter for each key of the calls (a host, a tenant), in place of one for all. */
import type { Admission } from "../admission.ts";
import type { Admitter, Asking, Permit } from "../admitter.ts";
import type { Call, Rejected } from "../call.ts";
import { checkKeys, checkOneOf, orDefault } from "../options.ts";
import type { Room } from "../room.ts";
import { Keyed, type KeyedOptions } from "./machine.ts";

/** One guard for each key. */
export interface PerKeyOptions extends KeyedOptions {
  /** What tells calls apart: the `key` or the `tenant` that a call states. Default "key". */
  readonly by?: "key" | "tenant";
}

/** Asks the admitter of the call's key. */
export class PerKey<A extends Admitter> implements Admitter {
  readonly name: string;
  readonly timed = true;
  readonly mayRefuse = true;
  /** The admitters that are remembered. */
  readonly keys: Keyed<A>;
  readonly queues: boolean;
  readonly reclaimAbandonedAfterMs: number;
  private readonly byTenant: boolean;

  constructor(
    name: string,
    make: (key: string) => A,
    options: PerKeyOptions,
    field: string,
    inUse: ((admitter: A) => boolean) | null = null,
  ) {
    checkKeys(field, options, ["by", "maxKeys", "idleMs"]);
    this.name = name;
    this.byTenant = checkOneOf(`${field}.by`, orDefault(options.by, "key"), ["key", "tenant"]) === "tenant";
    this.keys = new Keyed(make, options, field, inUse);
    // One that nobody asks: wrong options are refused now, and what holds for all of them is read off it.
    const { queues = false, reclaimAbandonedAfterMs = Infinity } = make("");
    this.queues = queues;
    this.reclaimAbandonedAfterMs = reclaimAbandonedAfterMs;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.keys.size;
  }

  /** The admitter of a key; null where none is remembered. */
  of(key: string): A | null {
    return this.keys.peek(key) ?? null;
  }

  check(asking: Asking, now: number): Rejected | Room | null {
    return this.asked(asking.call, now).check(asking, now);
  }

  take(admission: Admission, now: number): Permit {
    return this.asked(admission.call, now).take(admission, now);
  }

  refusedWithin(asking: Asking, now: number): void {
    this.asked(asking.call, now).refusedWithin?.(asking, now);
  }

  hasRefused(asking: Asking, now: number): void {
    this.asked(asking.call, now).hasRefused?.(asking, now);
  }

  private asked(call: Call, now: number): A {
    return this.keys.of(this.byTenant ? call.tenant : call.key, now);
  }
}
