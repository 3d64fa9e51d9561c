// Quotas (law 6): in every stretch of time at most the burst and what has come back since; and nobody is refused who
// could pay. Judged by trying every stretch that ends now, not by a bucket.
import type { Admission, Asking, Rejected } from "../../../src/core/index.ts";
import type { AdmitterSpec, RateSpec } from "../program.ts";
import type { Fields } from "../records.ts";
import { Law } from "./law.ts";

interface Payment {
  readonly at: number;
  readonly cost: number;
}

const ROUNDING = 1e-6;

export class Quotas extends Law {
  /** What was paid into each quota. */
  readonly #paid: Map<string, Payment[]> = new Map();

  override took(spec: AdmitterSpec, stack: number, admission: Admission, now: number): void {
    const quota = this.#quota(spec, stack, admission);
    if (quota === null) return;
    const { rate, paid, remembered, cost } = quota;
    if (remembered && !fits(rate, paid, cost, now)) this.fail("6", "a quota was overdrawn");
    paid.push({ at: now, cost });
  }

  override refused(spec: AdmitterSpec, stack: number, asking: Asking, refusal: Rejected, now: number): void {
    const quota = this.#quota(spec, stack, asking);
    if (quota === null) return;
    const { rate, paid, remembered, cost } = quota;
    const { retryAfterMs } = refusal;
    if (retryAfterMs === undefined) {
      if (cost <= rate.burst) this.fail("6", "refused for ever, and could be paid");
      return;
    }
    if (fits(rate, paid, cost, now)) this.fail("6", "a quota refused who could pay");
    if (!remembered) return;
    if (!fits(rate, paid, cost, now + retryAfterMs + ROUNDING)) this.fail("6", "a hint was too short");
    if (fits(rate, paid, cost, now + retryAfterMs - 1e-3)) this.fail("6", "a hint was too long");
  }

  #quota(spec: AdmitterSpec, stack: number, { call }: Asking) {
    if (spec.kind !== "rate" && spec.kind !== "rates") return null;
    const own = (call.fields as Fields).run.spec;
    const place = this.world.program.stacks[stack]?.guards.indexOf(spec);
    const name = "by" in spec ? `${stack} ${place} ${own[spec.by]}` : `${spec.of}`;
    const paid = this.#paid.get(name) ?? [];
    this.#paid.set(name, paid);
    const rate = this.world.program.rates[spec.of] as RateSpec;
    return { rate, paid, remembered: this.#remembers(spec), cost: rate.costly ? 1 + own.bytes : 1 };
  }

  /** Whether no key can ever be forgotten. What is forgotten is whole again. */
  #remembers(spec: AdmitterSpec): boolean {
    if (spec.kind !== "rates") return true;
    const keys = new Set(this.world.program.calls.map((call) => call[spec.by]));
    return keys.size <= Math.floor(spec.maxKeys / 2) && spec.idleMs > 1_000;
  }

  override look(): void {
    for (const { bucket } of this.world.parts.rates) {
      const level = bucket.level(this.now);
      if (level < -ROUNDING || level > bucket.burst) this.fail("6", `${level} tokens of ${bucket.burst}`);
    }
    for (const { machine, spec } of this.world.parts.keyedRates)
      if (machine.size > spec.maxKeys) this.fail("6", `${machine.size} keys are kept, of ${spec.maxKeys}`);
  }
}

/** Whether so much more may be paid at `now`: no stretch up to then may hold more than its due. */
function fits(
  { limit, windowMs, burst }: RateSpec,
  paid: readonly Payment[],
  cost: number,
  now: number,
): boolean {
  let sum = cost;
  if (sum > burst + ROUNDING) return false;
  for (let i = paid.length - 1; i >= 0; i--) {
    const { at, cost: before } = paid[i] as Payment;
    sum += before;
    if (sum > burst + ((now - at) * limit) / windowMs + ROUNDING) return false;
  }
  return true;
}
