/**
 * The last good answers, one for each tenant and key: bounded in age, in number, and never another tenant's.
 *
 * A stale answer is better than none where the reader can live with it, and only there; how old it may be is a promise
 * that the caller makes. Source: the Basketly page, Part 9 (three kinds of fallback); the resilience notes, §08 and §16.
 */
import type { Call } from "../call.ts";
import { Keyed } from "../keyed/machine.ts";
import { checkMs, orDefault } from "../options.ts";

/** An answer, and when it was given. */
interface Kept {
  value: unknown;
  at: number;
}

/** Good answers, kept for a while. */
export class StaleAnswers {
  private readonly maxAgeMs: number;
  private readonly answers: Keyed<Kept>;

  constructor(options: { readonly maxAgeMs: number; readonly maxKeys?: number }, field: string) {
    this.maxAgeMs = checkMs(`${field}.maxAgeMs`, options.maxAgeMs, { min: 1 });
    const bounds = { maxKeys: orDefault(options.maxKeys, 1_000), idleMs: this.maxAgeMs };
    this.answers = new Keyed<Kept>(() => ({ value: undefined, at: -Infinity }), bounds, field);
  }

  /** Answers that are kept. */
  get size(): number {
    return this.answers.size;
  }

  /** Keeps a whole answer. */
  keep(call: Call, value: unknown, now: number): void {
    const kept = this.answers.of(keyOf(call), now);
    kept.value = value;
    kept.at = now;
  }

  /** The answer that `of` has just found: it is not judged again, or it might be too old by then. */
  last(call: Call): unknown {
    return this.answers.peek(keyOf(call))?.value;
  }

  /** The answer to a call like this one, or null where there is none young enough. */
  of(call: Call, now: number): { readonly value: unknown } | null {
    const kept = this.answers.peek(keyOf(call));
    return kept === undefined || now - kept.at > this.maxAgeMs ? null : kept;
  }
}

/** The length makes it unambiguous: no tenant can name itself into another's answers. */
function keyOf({ tenant, key }: Call): string {
  return `${tenant.length}:${tenant}${key}`;
}
