/**
 * A bulkhead for each key (a shard, a tenant, a host), so that one that is slow takes no places of another's. A
 * bulkhead is kept while any of its places is held: forgotten, it would begin anew, and let in its limit once more.
 */
import { PerKey, type PerKeyOptions } from "../keyed/per-key.ts";
import type { Runtime } from "../runtime.ts";
import { Bulkhead, type BulkheadOptions } from "./guard.ts";

/** Bulkheads by key. Their number has a bound, the sum of their places has none: cap that beside it. */
export class KeyedBulkheads extends PerKey<Bulkhead> {
  constructor(options: BulkheadOptions, perKey: PerKeyOptions, runtime: Runtime, field: string) {
    const make = (): Bulkhead => new Bulkhead(options, runtime, field);
    super("bulkhead", make, perKey, `${field}.perKey`, ({ gate }) => gate.held > 0);
  }
}
