/**
 * What one run is: a setting of Basketly at a scale, and its timetable. Every process gets the same plan, and counts
 * in seconds after the same instant, the beginning of the hiccup.
 */
import {
  type BasketlyParameters,
  basketlySystem,
  parametersOf,
  type SystemFile,
  scaled,
} from "plimsoll/system";

/** When things happen, in seconds after the hiccup's beginning. */
export interface Timetable {
  readonly fromS: number;
  readonly hiccupS: number;
  readonly untilS: number;
}

/** A run, as it is handed to each process. */
export interface Plan {
  readonly setting: string;
  readonly scale: number;
  readonly seed: number;
  readonly timetable: Timetable;
}

/** The main job's timetable: 5 s of health, 10 s of hiccup, 21 s to see whether it comes back. */
export const TIMETABLE: Timetable = { fromS: -5, hiccupS: 10, untilS: 31 };

/** The parameters of a plan: the setting's, at its scale, with its hiccup. */
export function parametersFor({ setting, scale, timetable }: Plan): BasketlyParameters {
  const parameters = parametersOf(setting);
  if (parameters === undefined) throw new Error(`there is no setting ${setting}`);
  return scaled({ ...parameters, "hiccup.fromS": 0, "hiccup.toS": timetable.hiccupS }, scale);
}

/** The system file of a plan: the one that the simulator reads too. */
export function systemFor(plan: Plan): SystemFile {
  return basketlySystem(parametersFor(plan));
}
