/**
 * What one run is: a setting of Basketly at a scale, what goes wrong in it, and its timetable. Every process gets the
 * same plan, and counts in seconds after the same instant, at which the trouble begins.
 */
import {
  type BasketlyParameters,
  basketlySystem,
  bindEdge,
  type Functions,
  parametersOf,
  readSystem,
  type SystemFile,
  scaled,
  WITHOUT_BADGES,
} from "plimsoll/system";

/** When things happen, in seconds after the trouble's beginning. */
export interface Timetable {
  readonly fromS: number;
  /** How long the trouble lasts: the hiccup, or the time until a killed process is started again. */
  readonly hiccupS: number;
  readonly untilS: number;
}

/** What can be killed. */
export const KILLABLE = ["stock", "postgres"] as const;

/** One of `KILLABLE`. */
export type Killable = (typeof KILLABLE)[number];

/** A run, as it is handed to each process. */
export interface Plan {
  readonly setting: string;
  readonly scale: number;
  readonly seed: number;
  readonly timetable: Timetable;
  /** Killed at second 0 instead of a hiccup of the storage. */
  readonly kill?: Killable;
  /** Whether some carts and checkouts are followed through all hops. */
  readonly trace?: boolean;
}

/** The settings that the real shop runs: with what no guard of its own in stock is needed for. */
export const SHOP_SETTINGS = ["C0", "C1", "C2", "C3", "C4", "guarded"] as const;

/** One of `SHOP_SETTINGS`. */
export type ShopSetting = (typeof SHOP_SETTINGS)[number];

/** Seconds of health before the trouble. */
const BEFORE_S = 5;
/** Seconds after it: long enough to see whether the shop is still down 20 s later. */
const AFTER_S = 21;

/**
 * Whether a reserve is looked up by the checkout's key. The page has it from C2 on (Part 3); here it stands from C1 on:
 * there C1 commits nothing twice because it checks deadlines, and on a busy machine no margin of a deadline is enough.
 */
export function isKeyed({ setting }: Plan): boolean {
  return setting !== "C0";
}

/** The timetable of a run whose trouble lasts this long. */
export function timetable(hiccupS: number): Timetable {
  return { fromS: -BEFORE_S, hiccupS, untilS: hiccupS + AFTER_S };
}

/** How long a killed process stays dead, in seconds: as long as a small orchestrator takes to notice and start it. */
export const DEAD_S = 4;

/** What a price takes, ms. It is a real call to a real process, and a small part of a request. */
const PRICE_MS = 1;

/**
 * Taken off a deadline at each hop, ms. What is sent travels in whole ms and is counted anew from its arrival, so that
 * a callee would else believe in more time than its caller has: by the way there and back, which is as long as the
 * event loops at both ends are late (docs/truth.md has the figures).
 */
const MARGIN_MS = 4;

/** How the real shop's parameters differ from the setting's: the simulation beside it has them too. */
export function overridesFor({ setting, timetable: { hiccupS }, kill }: Plan): Partial<BasketlyParameters> {
  const parameters = parametersOf(setting);
  const sends = parameters?.["deadline.send"] !== "none";
  return {
    "prices.workMs": PRICE_MS,
    "deadline.marginMs": sends ? MARGIN_MS : 0,
    // A process that stands still for 40 ms makes a dozen calls at once: they fill the gate and say nothing about stock.
    // Only where there is a breaker: a replay in which something of a breaker is set has one.
    ...(parameters?.breaker === true && { "breaker.countRefusals": false }),
    "hiccup.fromS": 0,
    "hiccup.toS": hiccupS,
    ...(kill !== undefined && { "hiccup.factor": 1 }),
  };
}

/** The parameters of a plan: the setting's, at its scale, with its hiccup. */
export function parametersFor(plan: Plan): BasketlyParameters {
  const parameters = parametersOf(plan.setting);
  if (parameters === undefined) throw new Error(`there is no setting ${plan.setting}`);
  return scaled({ ...parameters, ...overridesFor(plan) }, plan.scale);
}

/** The system file of a plan: the one that the simulator reads too. */
export function systemFor(plan: Plan): SystemFile {
  return basketlySystem(parametersFor(plan));
}

/** The code behind the names in the system file. */
export const FUNCTIONS: Functions = { fallbacks: { [WITHOUT_BADGES]: () => "unknown" } };

/** Checks the whole file of a plan, and that every name in it is bound: before anything is started. */
export function checkPlan(plan: Plan): void {
  const system = readSystem(systemFor(plan));
  for (const edge of Object.keys(system.edges)) {
    const [from = "", to = ""] = edge.split(" -> ");
    bindEdge(system, from, to, FUNCTIONS);
  }
}
