/**
 * Which fault meets which attempt: by script, or by chance from a stream of its own. One draw an attempt, whatever the
 * rates are, so changing a rate changes which attempts are hit and shifts nothing else.
 */
import { OptionError } from "../core/errors.ts";
import { checkKeys, checkMs, checkNumber, checkObject, checkOneOf, orDefault } from "../core/options.ts";
import type { Random } from "../core/random.ts";

/**
 * What can be done to an attempt. `latency`: it starts `ms` later. `error`: it does not start, and fails; by default as a
 * refused connection does (`ECONNREFUSED`: certainly not sent). `abort`: it starts, and after `ms` the connection breaks
 * (`ECONNRESET`: effect unknown) while the work goes on. `lostReply`: it runs to its end, and its answer is lost: the
 * caller sees a reset, or nothing at all if it `hangs`.
 */
export type Fault =
  | { readonly fault: "latency"; readonly ms: number }
  | { readonly fault: "error"; readonly error?: unknown }
  | { readonly fault: "abort"; readonly ms: number; readonly error?: unknown }
  | { readonly fault: "lostReply"; readonly hangs?: boolean; readonly error?: unknown };

/** The kinds of faults. */
export type FaultKind = Fault["fault"];

/** Which attempts meet which faults: `rates` or a `script`. */
export interface FaultPlanOptions {
  /** By chance: each fault with its share of the attempts, a `rate` from 0 to 1; together at most 1. */
  readonly rates?: readonly (Fault & { readonly rate: number })[];
  /** By script: the n-th attempt meets the n-th entry; null is none, and so is the end of the script. */
  readonly script?: readonly (Fault | null)[];
  /** Names the stream of chance, forked from the runtime's: another name, other attempts. Default "faults". */
  readonly name?: string;
}

const FIELDS: Readonly<Record<FaultKind, readonly string[]>> = {
  latency: ["ms"],
  error: ["error"],
  abort: ["ms", "error"],
  lostReply: ["hangs", "error"],
};

/** Says of one attempt after the other what happens to it. */
export class FaultPlan {
  readonly #rates: readonly (Fault & { readonly rate: number })[];
  readonly #script: readonly (Fault | null)[];
  readonly #name: string;
  #asked = 0;
  #parent: Random | null = null;
  #stream: Random | null = null;

  constructor({ rates = [], script = [], name = "faults" }: FaultPlanOptions) {
    checkList("faults.rates", rates);
    checkList("faults.script", script);
    if (rates.length > 0 === script.length > 0)
      throw new OptionError("faults.rates", rates, "a list of faults, or else a `script`; one of the two");
    if (typeof name !== "string" || name === "")
      throw new OptionError("faults.name", name, "a text that is not empty");
    for (const [at, rate] of rates.entries()) checkRate(`faults.rates[${at}]`, rate);
    for (const [at, fault] of script.entries())
      if (fault !== null) checkFault(`faults.script[${at}]`, fault, []);
    const sum = rates.reduce((total, { rate }) => total + rate, 0);
    // What ten tenths leave over is no wrong option.
    if (sum > 1 + 1e-9) throw new OptionError("faults.rates", sum, "rates that add up to 1 at most");
    this.#rates = rates;
    this.#script = script;
    this.#name = name;
  }

  /** What the next attempt meets; null for nothing. `random` is that of the attempt's runtime. */
  next(random: Random): Fault | null {
    if (this.#script.length > 0) return this.#script[this.#asked++] ?? null;
    let left = this.#streamOf(random).next();
    for (const rate of this.#rates) {
      left -= rate.rate;
      if (left < 0) return rate;
    }
    return null;
  }

  /** A test with a runtime of its own begins anew. */
  #streamOf(random: Random): Random {
    if (this.#stream === null || this.#parent !== random) {
      this.#parent = random;
      this.#stream = random.fork(this.#name);
    }
    return this.#stream;
  }
}

function checkList(field: string, list: unknown): void {
  if (!Array.isArray(list)) throw new OptionError(field, list, "a list of faults");
}

function checkRate(field: string, fault: Fault & { readonly rate: number }): void {
  checkFault(field, fault, ["rate"]);
  checkNumber(`${field}.rate`, fault.rate, { max: 1 });
}

function checkFault(field: string, fault: Fault, more: readonly string[]): void {
  checkObject(field, fault);
  const kind = checkOneOf(`${field}.fault`, fault.fault, Object.keys(FIELDS) as FaultKind[]);
  checkKeys(field, fault, ["fault", ...FIELDS[kind], ...more]);
  if (FIELDS[kind].includes("ms")) checkMs(`${field}.ms`, (fault as { ms: number }).ms);
  const hangs = orDefault((fault as { hangs?: boolean }).hangs, false);
  if (typeof hangs !== "boolean") throw new OptionError(`${field}.hangs`, hangs, "true or false");
}
