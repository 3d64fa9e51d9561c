// Case 007: a probe is admitted by the breaker but refused by an inner guard.
import { describe, expect, it } from "vitest";
import {
  BreakerPolicy,
  Bulkhead,
  breaker,
  bulkhead,
  CircuitBreaker,
  fixed,
  retry,
} from "../../src/core/index.ts";
import { fault, Lab, only } from "../lib/lab.ts";

describe.each(["as neighbours", "with a sequence between them"])("case 007: %s", (how) => {
  it("a local refusal is no evidence: the slot is free again, nothing opens, nothing jams", () => {
    const lab = new Lab();
    const machine = new CircuitBreaker(
      new BreakerPolicy({
        window: { calls: 2 },
        openMs: 100,
        reopen: fixed(),
        probes: 1,
        probeLeaseMs: 1_000_000,
      }),
    );
    const cap = new Bulkhead({ limit: 1 }, lab.runtime);
    const between = how === "as neighbours" ? [] : [retry({ attempts: 1 })];
    const stack = lab.stack([breaker(machine), ...between, bulkhead(cap)]);
    const fill = lab.stack([bulkhead(cap)]);
    for (let i = 0; i < 2; i++) lab.start(stack, lab.throws(fault("transient")));
    lab.runtime.advance(100);
    const holder = lab.start(fill, lab.hangs);
    for (let i = 0; i < 10; i++) expect(only(lab.start(stack, lab.gives(1)), "rejected").by).toBe("bulkhead");
    expect(machine.ask(lab.runtime.now())).toBe("probe");
    holder.sent[0]?.succeed(1);
    expect(only(lab.start(stack, lab.gives("probe")), "ok").value).toBe("probe");
    expect(machine.state.name).toBe("closed");
  });
});
