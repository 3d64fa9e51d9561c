/**
 * What a replay changes of its setting: `KEY=VALUE` for the whole run, `at.S.KEY=VALUE` from second S on, and what
 * an operator does at second S: `at.S.flush=true`, `at.S.shed=SHARE`. All of it is checked before anything runs.
 */
import {
  type BasketlyParameters,
  PARAMETERS,
  type ParameterName,
  type ParameterRange,
} from "../../../system/basketly/parameters.ts";
import { SystemError } from "../../../system/errors.ts";

/** What a key may be set to. */
export type Value = number | boolean | string;

/** What happens at one second. */
export interface Step {
  readonly atS: number;
  readonly changes: Partial<BasketlyParameters>;
  readonly flush: boolean;
  /** From now on this share of the users is turned away; undefined: as before. */
  readonly shed: number | undefined;
}

/** The overrides of a run, checked. */
export interface Overrides {
  /** All of them, by key, as what they mean: numbers, not text. */
  readonly values: Readonly<Record<string, Value>>;
  readonly changes: Partial<BasketlyParameters>;
  /** In order of time. */
  readonly steps: readonly Step[];
}

/** Groups that switch themselves on when one of their parameters is set. */
const GROUPS = ["budget", "breaker"] as const;

const AT = /^at\.(-?\d+(?:\.\d+)?)\.(.+)$/;

/** Reads overrides. Throws a `SystemError` that names the key, the value, and what is allowed. */
export function readOverrides(overrides: Readonly<Record<string, Value>>): Overrides {
  const values: Record<string, Value> = {};
  const changes: Record<string, Value> = {};
  const steps = new Map<
    number,
    { changes: Record<string, Value>; flush: boolean; shed: number | undefined }
  >();
  for (const [key, value] of Object.entries(overrides)) {
    const [, second, name] = AT.exec(key) ?? [];
    if (second === undefined || name === undefined) {
      values[key] = set(changes, key, key, value);
      continue;
    }
    const atS = read(SECOND, key, second) as number;
    const step = steps.get(atS) ?? { changes: {}, flush: false, shed: undefined };
    steps.set(atS, step);
    if (name === "flush") values[key] = step.flush = read({ kind: "boolean" }, key, value) as boolean;
    else if (name === "shed") values[key] = step.shed = read(SHARE, key, value) as number;
    else values[key] = set(step.changes, name, key, value);
  }
  const ordered = [...steps].map(([atS, step]) => ({ atS, ...step })).sort((a, b) => a.atS - b.atS);
  return { values, changes, steps: ordered };
}

const SECOND: ParameterRange = { kind: "number", min: -15, max: 86_400, integer: false };
const SHARE: ParameterRange = { kind: "number", min: 0, max: 1, integer: false };

function set(changes: Record<string, Value>, name: string, key: string, value: Value): Value {
  if (!Object.hasOwn(PARAMETERS, name)) {
    const allowed = `${Object.keys(PARAMETERS).join(", ")}, at.S.KEY, at.S.flush, at.S.shed`;
    throw new SystemError([{ path: key, value, allowed: `one of the keys ${allowed}` }]);
  }
  for (const group of GROUPS) {
    if (name.startsWith(`${group}.`) && !(group in changes)) changes[group] = true;
  }
  const found = read(PARAMETERS[name as ParameterName].range, key, value);
  changes[name] = found;
  return found;
}

/** A value from a command line is text; from code it may be what it is. */
function read(range: ParameterRange, key: string, value: Value): Value {
  const found = typeof value === "string" ? parsed(range, value) : value;
  if (fits(range, found)) return found as Value;
  throw new SystemError([{ path: key, value, allowed: described(range) }]);
}

function parsed(range: ParameterRange, text: string): Value | undefined {
  if (range.kind === "word") return text;
  if (range.kind === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  return /^-?\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(text) ? Number(text) : undefined;
}

function fits(range: ParameterRange, value: Value | undefined): boolean {
  if (range.kind === "word") return range.words.includes(value as string);
  if (range.kind === "boolean") return typeof value === "boolean";
  if (typeof value !== "number" || !(value >= range.min && value <= range.max)) return false;
  return !range.integer || Number.isInteger(value);
}

function described(range: ParameterRange): string {
  if (range.kind === "word") return range.words.join(" or ");
  if (range.kind === "boolean") return "true or false";
  return `${range.integer ? "a whole number" : "a number"} from ${range.min} to ${range.max}`;
}
