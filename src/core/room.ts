/** Waiting for a place: the room, and the record of one wait. Most admissions never wait, so few have one. */
import type { Admission } from "./admission.ts";
import type { Rejected } from "./call.ts";
import type { Entry } from "./queue/machine.ts";

/** Where admissions wait for a place. Waiting is bounded in number and in time. */
export interface Room {
  readonly kind: "room";
  /** Lets somebody wait, or refuses because the room is full. */
  join(wait: Wait, now: number): Rejected | null;
  /** Forgets somebody who waits. */
  leave(wait: Wait): void;
  /** The refusal for a wait that took `maxWaitMs`. */
  readonly waitedTooLong: Rejected;
}

/** A wait for a place. */
export class Wait implements Entry<Wait> {
  readonly admission: Admission;
  /** What it waits in; null when the wait is over. */
  room: Room | null;
  ahead: Wait | null = null;
  behind: Wait | null = null;
  waitingSince = 0;

  constructor(admission: Admission, room: Room) {
    this.admission = admission;
    this.room = room;
  }
}
