/** How the tables in this folder are written down, and turned into judges. */
import type { Failed } from "../call.ts";
import type { Judge } from "../leaf.ts";

/** What a reply means to the guards. */
export type Meaning = Pick<Failed, "class" | "effect"> & Partial<Pick<Failed, "ended" | "pushback">>;

/** Later, or elsewhere, it may work; nobody knows what it did. */
export const TRANSIENT: Meaning = { class: "transient", effect: "unknown" };
/** The same, and it certainly did nothing. */
export const NOT_EXECUTED: Meaning = { class: "transient", effect: "none" };
/** The dependency asks for less; nobody knows what this did. */
export const THROTTLED: Meaning = { class: "throttling", effect: "unknown" };
/** The dependency asks for less, and has done nothing. */
export const TURNED_AWAY: Meaning = { class: "throttling", effect: "none" };
/** An answer: the same request gets it again. */
export const REFUSED: Meaning = { class: "permanent", effect: "none" };
/** The same request fails again, and nobody knows what it did. */
export const BROKEN: Meaning = { class: "permanent", effect: "unknown" };

/** A judge that asks `meaningOf` about errors, and leaves values and what it does not know to the library. */
export function judgeBy(meaningOf: (error: unknown) => Meaning | undefined): Judge {
  return (result) => {
    if (!("error" in result)) return undefined;
    const meaning = meaningOf(result.error);
    return meaning === undefined ? undefined : { kind: "failed", error: result.error, ...meaning };
  };
}

/** A field of something that may be anything. */
export function field(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null ? (of as Record<string, unknown>)[name] : undefined;
}
