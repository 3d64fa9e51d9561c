/** Guards that decide at once, and what they give and hear: the guards' side of an admission. */
import type { Admission } from "./admission.ts";
import type { AttemptKind, Call, Rejected } from "./call.ts";
import type { Evidence } from "./evidence.ts";
import type { Room } from "./room.ts";

/** What a guard gave to one admission. Several admissions may share one permit object. */
export interface Permit {
  /** The attempt was answered like this. Called once, before or at `release`. */
  settle(evidence: Evidence, admission: Admission): void;
  /** The work has ended; the place is free. Called once. */
  release(): void;
  /** After how many ms the place of abandoned work is taken back; never when undefined. */
  readonly reclaimAbandonedAfterMs?: number;
  /** "handler": given back as soon as the attempt's own work has ended, whatever calls made within it still do. */
  readonly holds?: Holds;
}

/** Which work a place follows: the attempt's own, or that and all calls made within it. */
export type Holds = "handler" | "subtree";

/** What a guard may look at when it is asked. */
export interface Asking {
  readonly call: Call;
  readonly kind: AttemptKind;
}

/** A guard that decides at once. */
export interface Admitter {
  /** Its field name in options, refusals and events. */
  readonly name: string;
  /** Whether `check` may say anything but yes at present. Reads no clock. */
  readonly mayRefuse: boolean;
  /** Whether `check` looks at the clock. */
  readonly timed: boolean;
  /** Admits (null), refuses, or sends to a room. Must not change anything. */
  check(asking: Asking, now: number): Rejected | Room | null;
  /** Takes a place, after every guard of the run has admitted in this same step. */
  take(admission: Admission, now: number): Permit;
  /** After how many ms the place of an abandoned attempt is taken back; never when undefined. */
  readonly reclaimAbandonedAfterMs?: number;
  /** What it counts with, if not itself: the same machine may stand only once in a run. */
  readonly machine?: object;
  /** Whether it may send to a room; only one guard of a run may. */
  readonly queues?: boolean;
  /** Hears that a guard behind it in the run refused a call that it would have admitted. */
  refusedWithin?(asking: Asking, now: number): void;
  /** Hears that a call was refused for good by what its own `check` said. */
  hasRefused?(asking: Asking, now: number): void;
}
