// What the fuzz itself knows of calls, flights and works: kept beside the kernel, never read from it.
import { Attempt, type CallFields, type CallProcess, type Exit } from "../../src/core/index.ts";
import type { CallSpec, FallbackSpec, WorkSpec } from "./program.ts";

/** What a call's fields carry through the kernel, so that whatever is done for it can be told. */
export interface Fields extends CallFields {
  readonly run: CallRun;
}

/** Whoever makes attempts: a call, or a flight that several calls share. */
export abstract class Sender {
  abstract readonly spec: CallSpec;
  abstract readonly name: string;
  readonly works: WorkRun[] = [];
  readonly fallbackWorks: WorkRun[] = [];
  /** Refused by a guard; with one plain retry nothing may be sent after that. */
  refused = false;
  /** An attempt of it was answered well. */
  good = false;
  /** Destinations that its attempts have chosen. */
  readonly chosen: Set<string> = new Set();
  /** Races so far, where a plain hedge stands: each begins with what is no hedge. */
  races = 0;
  /** For each race, the work on which the callee has begun. */
  readonly begun: Map<number, WorkRun> = new Map();
  /** Whose callbacks run for it. */
  abstract readonly founder: CallRun;

  /** It has been started, and has no end. */
  abstract get goesOn(): boolean;

  get all(): readonly WorkRun[] {
    return [...this.works, ...this.fallbackWorks];
  }
}

/** One call of the program. */
export class CallRun extends Sender {
  readonly index: number;
  readonly spec: CallSpec;
  readonly name: string;
  started = false;
  process: CallProcess | null = null;
  startedAt = 0;
  deadline = Infinity;
  /** The work in the course of which it was made, or null. */
  outer: WorkRun | null = null;
  /** The reason it was cancelled with, in a box; null when nobody cancelled it. */
  cancelled: { readonly reason: unknown } | null = null;
  /** To be cancelled as soon as its handle is known. */
  cancelPending = false;
  readonly answers: Exit[] = [];
  answeredEvents = 0;
  /** The flights that it has waited for, in order. */
  readonly flights: FlightRun[] = [];
  readonly siteCounts: Map<string, number> = new Map();

  constructor(index: number, spec: CallSpec) {
    super();
    this.index = index;
    this.spec = spec;
    this.name = `call ${index}`;
  }

  get founder(): CallRun {
    return this;
  }

  get goesOn(): boolean {
    return this.process !== null && this.process.exit === null;
  }

  get answered(): boolean {
    return this.answers.length > 0;
  }
}

/** A call that several calls wait for. */
export class FlightRun extends Sender {
  readonly id: number;
  readonly founder: CallRun;
  readonly name: string;
  /** Who has ever waited for it. */
  readonly joined: Set<CallRun> = new Set();
  /** What it gave, in a box; null while nobody has heard. */
  landed: { readonly what: unknown; readonly at: number } | null = null;

  constructor(id: number, founder: CallRun) {
    super();
    this.id = id;
    this.founder = founder;
    this.name = `flight ${id}`;
  }

  get spec(): CallSpec {
    return this.founder.spec;
  }

  get goesOn(): boolean {
    return [...this.joined].some((call) => call.goesOn);
  }

  /** Those that have joined it last, and have no answer. */
  get waiting(): readonly CallRun[] {
    return [...this.joined].filter((call) => !call.answered && call.flights.at(-1) === this);
  }
}

/** One piece of work that was started. */
export class WorkRun {
  readonly sender: Sender;
  readonly attempt: Attempt;
  readonly spec: WorkSpec;
  readonly startedAt: number;
  /** The substitute that it is, or null. */
  readonly fallback: FallbackSpec | null;
  /** Whether it is the first work of its sender. */
  readonly isFirst: boolean;
  /** The work in the course of which its call was made, while that went on. */
  readonly within: WorkRun | null;
  /** Which race of its sender's it is a part of. */
  readonly race: number;
  /** Works within it that go on. */
  nested = 0;
  /** It has returned or thrown. */
  reported = false;
  endedAt = Infinity;
  /** Its body is still open. */
  holding = false;
  release: (() => void) | null = null;
  /** What it gave: a value or an error of its own. */
  readonly mark: { readonly work: string };
  /** How it was judged, when its attempt had no answer yet. */
  judged: string | null = null;
  heardOfAnswer = false;
  /** What its attempt's answer was told to be. */
  ending: string | null = null;
  /** Its listener was told that it is given up. */
  heardOfAbort = false;
  /** It listens; it may have ended before it could. */
  listening = false;

  constructor(
    sender: Sender,
    attempt: Attempt,
    spec: WorkSpec,
    startedAt: number,
    fallback: FallbackSpec | null,
    within: WorkRun | null,
  ) {
    this.sender = sender;
    this.attempt = attempt;
    this.spec = spec;
    this.startedAt = startedAt;
    this.fallback = fallback;
    this.within = within;
    if (fallback === null && attempt.kind !== "hedge") sender.races++;
    this.race = sender.races;
    this.isFirst = fallback === null && sender.works.length === 0;
    this.mark = { work: `${sender.name}/${fallback === null ? "" : "f"}${sender.works.length}` };
  }

  get call(): CallRun {
    return this.sender.founder;
  }

  get isFallback(): boolean {
    return this.fallback !== null;
  }

  /** Nothing of its own is left in the process. */
  get over(): boolean {
    return this.reported && !this.holding;
  }

  /** Something of it, or of what was made within it, goes on. */
  get alive(): boolean {
    return !this.over || this.nested > 0;
  }
}

/** The attempt in the course of which the call of this one was made, or null. */
export function outerAttempt(attempt: Attempt): Attempt | null {
  for (let { outer } = attempt; outer !== null; { outer } = outer) if (outer instanceof Attempt) return outer;
  return null;
}
