/** An admitter for each key of the calls (a host, a tenant), in place of one for all. */
import type { Admission, Admitter, Asking, Permit } from "../admission.ts";
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
  private readonly byTenant: boolean;

  constructor(name: string, make: (key: string) => A, options: PerKeyOptions, field: string) {
    checkKeys(field, options, ["by", "maxKeys", "idleMs"]);
    this.name = name;
    this.byTenant = checkOneOf(`${field}.by`, orDefault(options.by, "key"), ["key", "tenant"]) === "tenant";
    this.keys = new Keyed(make, options, field);
  }

  check(asking: Asking, now: number): Rejected | Room | null {
    return this.of(asking.call, now).check(asking, now);
  }

  take(admission: Admission, now: number): Permit {
    return this.of(admission.call, now).take(admission, now);
  }

  refusedWithin(asking: Asking, now: number): void {
    this.of(asking.call, now).refusedWithin?.(asking, now);
  }

  hasRefused(asking: Asking, now: number): void {
    this.of(asking.call, now).hasRefused?.(asking, now);
  }

  private of(call: Call, now: number): A {
    return this.keys.of(this.byTenant ? call.tenant : call.key, now);
  }
}
