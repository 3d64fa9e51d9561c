/** The replay of Basketly: a setting, a seed and what is changed in, one history out. */
import type { EventSink } from "../../../core/runtime.ts";
import type { BasketlyParameters } from "../../../system/basketly/parameters.ts";
import { parametersOf, SETTINGS } from "../../../system/basketly/settings.ts";
import { basketlySystem, scaled, WITHOUT_BADGES } from "../../../system/basketly/system.ts";
import type { Functions } from "../../../system/bind.ts";
import { SystemError } from "../../../system/errors.ts";
import { VirtualRuntime } from "../../../testing/virtual-runtime.ts";
import { DEGRADED } from "../../exchange.ts";
import { World } from "../../world.ts";
import { BusySampler, type Measures } from "./measures.ts";
import { type Overrides, readOverrides, type Step } from "./overrides.ts";
import { AppTap, DatabaseTap, FIRST_SECOND, Recorder, ShopTap, StockTap, ZERO_MS } from "./recorder.ts";
import { type MeanSecond, meanOf, recoveredAt, type Second } from "./second.ts";

/** What to replay. */
export interface ReplayOptions {
  /** One of `SETTINGS`. */
  readonly setting: string;
  /** Seed of all randomness, a whole number from 0 to 2^32 − 1. Default 1. */
  readonly seed?: number;
  /** The last second, not included: 1 to 86,400. Default 30; the run starts at −15. */
  readonly untilS?: number;
  /** What is changed: `KEY: value` and `at.S.KEY: value`; text is read as on a command line. */
  readonly overrides?: Readonly<Record<string, number | boolean | string>>;
  /** The size of everything, above 0, at most 10; 0.25 is one shop-api and two connections. Default 1. */
  readonly scale?: number;
  /** Whether distributions are kept for `measures`. Default false. */
  readonly measured?: boolean;
  /** Hears every event of every guard. Costs about as much as the guards. */
  readonly sink?: EventSink;
}

/** A replay, as `--json` prints it. */
export interface Replay {
  readonly scenario: "basketly";
  readonly setting: string;
  readonly seed: number;
  readonly overrides: Readonly<Record<string, number | boolean | string>>;
  /** A hash over the run's log, in order and with times: equal for equal runs, on every engine. */
  readonly hash: string;
  /** Entries of that log. */
  readonly events: number;
  readonly seconds: readonly Second[];
  /** Means over the hiccup, as the setting has it. */
  readonly hiccup: MeanSecond;
  readonly recoveredAtS: number | null;
}

/** A replay with what else was learnt on the way. */
export interface MeasuredReplay {
  readonly replay: Replay;
  readonly measures: Measures | null;
  /** Timers that fired: the unit in which the simulator's speed is measured. */
  readonly fired: number;
}

const FUNCTIONS: Functions = { fallbacks: { [WITHOUT_BADGES]: () => DEGRADED } };

/** How long after the end an action may still be answered. Three patient attempts and their backoff fit. */
const GRACE_MS = 3_600_000;

/** Replays Basketly. */
export function replayBasketly(options: ReplayOptions): MeasuredReplay {
  const { setting, overrides = {}, measured = false, sink } = options;
  const untilS = whole("untilS", options.untilS ?? 30, 1, 86_400);
  const seed = whole("seed", options.seed ?? 1, 0, 4_294_967_295);
  const read = readOverrides(overrides);
  const { scale = 1 } = options;
  const unscaled = parametersFor(setting, read, scale);
  const parameters = scaled(unscaled, scale);
  const runtime = new VirtualRuntime({ seed });
  if (sink !== undefined) runtime.sink = sink;
  const recorder = new Recorder(runtime, untilS, measured);
  const world = worldOf(
    parameters,
    recorder,
    read.steps.some((step) => step.flush),
  );
  schedule(world, read.steps, unscaled, scale);
  runtime.advanceTo(ZERO_MS + untilS * 1000);
  const latest = runtime.now() + GRACE_MS;
  while (recorder.open > 0 && runtime.now() < latest) runtime.advance(100);
  return {
    replay: summary(setting, seed, read.values, parameters, recorder, untilS),
    measures: recorder.measures,
    fired: runtime.fired,
  };
}

function parametersFor(setting: string, read: Overrides, scale: number): BasketlyParameters {
  const named = parametersOf(setting);
  if (named === undefined) {
    throw new SystemError([{ path: "setting", value: setting, allowed: SETTINGS.join(", ") }]);
  }
  if (!(scale > 0 && scale <= 10)) {
    throw new SystemError([{ path: "scale", value: scale, allowed: "a number above 0, at most 10" }]);
  }
  return { ...named, ...read.changes };
}

function whole(path: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new SystemError([{ path, value, allowed: `a whole number from ${min} to ${max}` }]);
}

function worldOf(parameters: BasketlyParameters, recorder: Recorder, flushes: boolean): World {
  const { measures, runtime } = recorder;
  const world = new World(basketlySystem(parameters), {
    runtime,
    zeroMs: ZERO_MS,
    functions: FUNCTIONS,
    linkTaps: { "app -> shop-api": new AppTap(recorder), "shop-api -> stock": new StockTap(recorder) },
    serverTaps: {
      database: new DatabaseTap(recorder),
      ...(measures !== null && { "shop-api": new ShopTap(measures) }),
    },
    actionTap: recorder,
    flushable: flushes ? ["shop-api"] : [],
  });
  recorder.world = world;
  if (measures !== null) {
    const busy = () => world.servers("shop-api").reduce((sum, server) => sum + server.busy, 0);
    new BusySampler(runtime, measures, busy);
  }
  return world;
}

/** How long after its second an operator's step is taken: the gauges of that second are read first. */
const AFTER_GAUGES_MS = 1 / 1024;

/** The operator's steps. */
function schedule(world: World, steps: readonly Step[], start: BasketlyParameters, scale: number): void {
  let parameters = start;
  for (const step of steps) {
    const changed = Object.keys(step.changes).length > 0;
    if (changed) parameters = { ...parameters, ...step.changes };
    const system = changed ? basketlySystem(scaled(parameters, scale)) : null;
    world.runtime.after(Math.max(0, ZERO_MS + step.atS * 1000) + AFTER_GAUGES_MS, () => {
      if (system !== null) world.change(system);
      if (step.shed !== undefined) world.shed(step.shed);
      if (step.flush) world.flush("shop-api");
    });
  }
}

function summary(
  setting: string,
  seed: number,
  overrides: Replay["overrides"],
  parameters: BasketlyParameters,
  recorder: Recorder,
  untilS: number,
): Replay {
  const seconds = recorder.seconds.slice(0, untilS - FIRST_SECOND);
  const from = parameters["hiccup.fromS"];
  const to = parameters["hiccup.toS"];
  return {
    scenario: "basketly",
    setting,
    seed,
    overrides,
    hash: recorder.log.text,
    events: recorder.log.entries,
    seconds,
    hiccup: meanOf(seconds.filter(({ at }) => at >= from && at < to)),
    recoveredAtS: recoveredAt(seconds),
  };
}
