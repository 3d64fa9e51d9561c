// Faults of guards that decide at once, beside those of the kernel in `mutants.ts`.
import { type Mutant, mutant } from "./mutant.ts";

const SHARES: readonly Mutant[] = [
  mutant("7", "chance is drawn when a guard is asked", [
    "share.ts",
    "return this.machine.mayRefuse && this.machine.refuses(now) ? this.refusal : null;",
    "if (this.machine.mayRefuse) this.machine.decided(this.random()); return this.machine.mayRefuse && this.machine.refuses(now) ? this.refusal : null;",
  ]),
  mutant("3", "a throttle takes every answer for a rejection", [
    "adaptive-throttle/guard.ts",
    "if (accepted !== null) this.machine.record(accepted, this.runtime.now());",
    "if (accepted !== null) this.machine.record(false, this.runtime.now());",
  ]),
  mutant(
    "3",
    "a throttle allows nothing beside what was accepted",
    [
      "adaptive-throttle/machine.ts",
      "const excess = window.total - this.k * (window.total - window.failures);",
      "const excess = window.failures;",
    ],
    [
      "adaptive-throttle/machine.ts",
      "return this.window.total > this.k * (this.window.total - this.window.failures);",
      "return this.window.failures > 0;",
    ],
  ),
  mutant("3", "a partial breaker takes every answer for a failure", [
    "partial-breaker/guard.ts",
    'this.machine.record(breaker === "failure", this.runtime.now());',
    "this.machine.record(true, this.runtime.now());",
  ]),
];

const BREAKERS: readonly Mutant[] = [
  mutant("3", "a ramp has no foot", [
    "breaker/guard.ts",
    "return machine.policy.rampMs > 0 && this.draw >= machine.passingShare(closed, now);",
    "return machine.policy.rampMs > 0 && this.draw >= machine.passingShare(closed, now + machine.policy.rampMs / 2);",
  ]),
  mutant("3", "one failure less in a row is enough", [
    "breaker/options.ts",
    "if (inARow >= this.consecutiveFailures) return true;",
    "if (inARow + 1 >= this.consecutiveFailures) return true;",
  ]),
  mutant("3", "a success does not end a row of failures", [
    "breaker/machine.ts",
    'closed.inARow = verdict === "failure" ? closed.inARow + 1 : 0;',
    'if (verdict === "failure") closed.inARow++;',
  ]),
  mutant("3", "every call is slow", [
    "breaker/machine.ts",
    "const slow = tookMs >= this.policy.slowCallMs;",
    "const slow = this.policy.slowCallMs < Infinity;",
  ]),
  mutant("3", "all keys share a guard", [
    "keyed/per-key.ts",
    "return this.keys.of(this.byTenant ? call.tenant : call.key, now);",
    'return this.keys.of("", now);',
  ]),
];

const BULKHEADS: readonly Mutant[] = [
  mutant("2", "the bulkhead of a key is forgotten while its places are held", [
    "bulkhead/keyed.ts",
    "({ gate }) => gate.held > 0",
    "({ gate }) => gate.held < 0",
  ]),
  mutant("6", "keys are never forgotten", [
    "keyed/machine.ts",
    "this.younger.size - this.carried >= Math.floor(this.maxKeys / 2)",
    "this.younger.size < 0",
  ]),
  mutant("2", "bytes are not given back", ["bulkhead/guard.ts", "this.heldBytes -= bytes;", ""]),
  mutant("2", "bytes in flight have no bound", [
    "bulkhead/guard.ts",
    "const fits = this.places.free && this.heldBytes + bytes <= this.maxBytes;",
    "const fits = this.places.free;",
  ]),
  mutant("6", "bytes that wait have no bound", [
    "queue/machine.ts",
    "if (this.count >= this.maxWaiting || this.waitingBytes + bytes > this.maxBytes) return false;",
    "if (this.count >= this.maxWaiting) return false;",
  ]),
  mutant("5", "one who leaves makes no room for a smaller one", [
    "bulkhead/guard.ts",
    "if (this.maxBytes < Infinity) this.callWaiters();",
    "",
  ]),
  mutant("10", "a limit learns beyond its bound", [
    "concurrency-limit/machine.ts",
    "if (this.limit < this.max) this.limit++;",
    "this.limit++;",
  ]),
  mutant("10", "a limit learns from its callers' deadlines", [
    "evidence.ts",
    'clipped: row("clipped", "ignored", "ignored",',
    'clipped: row("clipped", "ignored", "overload",',
  ]),
  mutant("2", "every place follows the handler alone", [
    "admission.ts",
    'return holds === "handler";',
    'return holds === "handler" || holds === "subtree";',
  ]),
  mutant("2", "places that follow the handler last as long as the calls within", [
    "admission.ts",
    'return holds === "handler";',
    "return holds === undefined;",
  ]),
];

const QUOTAS: readonly Mutant[] = [
  mutant("6", "a quota is paid when it is asked", [
    "rate-limit/guard.ts",
    "if (waitMs === 0) return null;",
    "if (waitMs === 0) { this.bucket.take(this.price, now); return null; }",
  ]),
  mutant("6", "a bucket holds one more than its burst", [
    "rate-limit/machine.ts",
    "const waitMs = fullAt - now - this.burst * this.intervalMs;",
    "const waitMs = fullAt - now - (this.burst + 1) * this.intervalMs;",
  ]),
  mutant("6", "a bucket takes no notice of what a call costs", [
    "rate-limit/machine.ts",
    "this.fullAt = Math.max(this.fullAt, now) + cost * this.intervalMs;",
    "this.fullAt = Math.max(this.fullAt, now) + this.intervalMs;",
  ]),
  mutant("6", "a quota's hint is too short", [
    "rate-limit/guard.ts",
    'rejected("rateLimit", "spent", waitMs);',
    'rejected("rateLimit", "spent", waitMs / 2);',
  ]),
];

export const MUTANTS_OF_ADMITTERS: readonly Mutant[] = [...SHARES, ...BREAKERS, ...BULKHEADS, ...QUOTAS];
