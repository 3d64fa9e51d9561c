/** Numbers as they stand in a sentence. */

/** A share in percent. */
export function percent(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}

/** A duration. */
export function time(ms: number): string {
  if (ms === Infinity) return "for ever";
  return ms >= 1_000 ? `${Number((ms / 1_000).toFixed(2))} s` : `${Number(ms.toFixed(1))} ms`;
}
