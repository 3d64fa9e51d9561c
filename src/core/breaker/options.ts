/** The options of a breaker, checked once and shared by all breakers made from them. */
import { OptionError } from "../errors.ts";
import { checkKeys, checkMs, checkNumber, checkOneOf, orDefault } from "../options.ts";
import { MAX_TIMER_MS } from "../runtime.ts";
import type { Closed } from "./machine.ts";
import { CountWindow, TimeWindow, type Window } from "./window.ts";

/** How long a breaker stays open the first time and after failed probes; see `fixed`, `jittered`, `growing`. */
export interface ReopenOptions {
  /** Which of the three it is; use the functions. */
  readonly kind: "fixed" | "jittered" | "growing";
  /**
   * Adds up to this share of the open time, 0 to 1, at random, so that callers do not probe together. Default 0.2 (our
   * choice).
   */
  readonly jitter?: number;
  /** Growth per opening without a close in between, 1 to 100. Default 2 (our choice). */
  readonly factor?: number;
  /** Longest open time before jitter, in ms, `openMs` to 2^31 − 1. Default 12 × `openMs` (our choice). */
  readonly maxMs?: number;
}

/** Options of `breaker`. */
export interface BreakerOptions {
  /**
   * What is remembered while closed: the last `calls` outcomes (1 to 100,000) or those of the last `ms` (10 to
   * 3,600,000). Default `{ calls: 100 }` (resilience4j).
   */
  readonly window?: { readonly calls: number } | { readonly ms: number };
  /**
   * Opens only with at least this many outcomes, whole: 1 to the window's calls, or to 1,000,000. Default: a full count
   * window; 20 for a time window (Hystrix).
   */
  readonly minimumCalls?: number;
  /** Opens when at least this share failed; above 0, at most 1. Default 0.5 (resilience4j, Hystrix). */
  readonly failureRate?: number;
  /**
   * A call that took at least this long is slow, whether it succeeded or not; in ms, 1 to 2^31 − 1. Default: no call is
   * slow. It must be measured: about twice the healthy P99.
   */
  readonly slowCallMs?: number;
  /** Opens when at least this share was slow; above 0, at most 1. Default 1 (resilience4j). */
  readonly slowCallRate?: number;
  /**
   * Opens at this many failures in a row, whatever the window holds; 1 to 100,000, whole. Default: the window alone
   * decides.
   */
  readonly consecutiveFailures?: number;
  /** How long it stays open before it lets probes through, in ms, 1 to 2^31 − 1. Default 5,000 (Hystrix, Polly). */
  readonly openMs?: number;
  /** How `openMs` varies. Default `growing()`, jittered (our choice). */
  readonly reopen?: ReopenOptions;
  /**
   * Probes that a half-open breaker sends at most, and that must all pass; 1 to 1,000, whole. Default 3 (the Basketly
   * page, C6).
   */
  readonly probes?: number;
  /**
   * After it has closed, lets a growing share of calls through, from none to all in this time, in ms, 0 to 2^31 − 1, so
   * that a dependency that has just come back is not met by everybody at once. Default 0 (our choice): all at once.
   */
  readonly rampMs?: number;
  /** A probe's own timeout in ms, 1 to 2^31 − 1; above the healthy P99. Default: the attempt timeout. */
  readonly probeTimeoutMs?: number;
  /**
   * After this long an unanswered probe no longer counts, in ms, `probeTimeoutMs` (or 1) to 2^31 − 1. Default:
   * `openMs`, at least `probeTimeoutMs`.
   */
  readonly probeLeaseMs?: number;
  /** What the dependency's own "overloaded" (429, 503) counts as. Default "failure" (the table of evidence). */
  readonly throttling?: "failure" | "ignored";
  /**
   * What a refusal by a guard within (a full bulkhead, say) counts as. Default "ignored": it says nothing about the
   * dependency. "failure" only to reproduce the Basketly page's C7.
   */
  readonly localRefusals?: "ignored" | "failure";
  /** `enforce`; `observe`: decide and report, refuse nothing; or forced. Can be changed later. Default "enforce". */
  readonly mode?: BreakerMode;
}

/** The modes of a breaker. */
export const BREAKER_MODES = ["enforce", "observe", "forcedOpen", "forcedClosed"] as const;

/** What a breaker does with its decisions. */
export type BreakerMode = (typeof BREAKER_MODES)[number];

/** Always `openMs`. Callers that opened together probe together: for tests and the Basketly figures. */
export function fixed(): ReopenOptions {
  return { kind: "fixed" };
}

/** `openMs` and up to `jitter` of it more. */
export function jittered(jitter = 0.2): ReopenOptions {
  return { kind: "jittered", jitter };
}

/** `openMs`, growing with every opening until it closes again, and jittered. The default. */
export function growing(options: Omit<ReopenOptions, "kind"> = {}): ReopenOptions {
  return { kind: "growing", ...options };
}

const KEYS = [
  "window",
  "minimumCalls",
  "failureRate",
  "slowCallMs",
  "slowCallRate",
  "consecutiveFailures",
  "openMs",
  "reopen",
  "probes",
  "rampMs",
  "probeTimeoutMs",
  "probeLeaseMs",
  "throttling",
  "localRefusals",
  "mode",
];

/** Checked breaker options. */
export class BreakerPolicy {
  readonly minimumCalls: number;
  readonly failureRate: number;
  /** `Infinity` where no call is slow. */
  readonly slowCallMs: number;
  readonly slowCallRate: number;
  /** `Infinity` where a row of failures means nothing. */
  readonly consecutiveFailures: number;
  readonly openMs: number;
  readonly probes: number;
  readonly rampMs: number;
  readonly probeTimeoutMs: number | undefined;
  readonly probeLeaseMs: number;
  readonly throttlingFails: boolean;
  readonly refusalsFail: boolean;
  readonly mode: BreakerMode;
  private readonly calls: number | undefined;
  private readonly windowMs: number;
  private readonly reopen: Required<ReopenOptions>;

  constructor(options: BreakerOptions, field = "breaker") {
    checkKeys(field, options, KEYS);
    const { slowCallMs, consecutiveFailures, probeTimeoutMs } = options;
    const whole = (name: string, value: number, max: number): number =>
      checkNumber(`${field}.${name}`, value, { min: 1, max, integer: true });
    const share = (name: string, value: number): number =>
      checkNumber(`${field}.${name}`, value, { above: 0, max: 1 });
    const ms = (name: string, value: number, min = 1): number => checkMs(`${field}.${name}`, value, { min });
    const word = <W extends string>(name: string, value: W, words: readonly W[]): W =>
      checkOneOf(`${field}.${name}`, value, words);
    const { calls, ms: windowMs } = checkWindow(`${field}.window`, orDefault(options.window, { calls: 100 }));
    this.calls = calls;
    this.windowMs = windowMs;
    this.minimumCalls = whole(
      "minimumCalls",
      orDefault(options.minimumCalls, calls ?? 20),
      calls ?? 1_000_000,
    );
    this.failureRate = share("failureRate", orDefault(options.failureRate, 0.5));
    this.slowCallMs = slowCallMs === undefined ? Infinity : ms("slowCallMs", slowCallMs);
    this.slowCallRate = share("slowCallRate", orDefault(options.slowCallRate, 1));
    this.consecutiveFailures =
      consecutiveFailures === undefined
        ? Infinity
        : whole("consecutiveFailures", consecutiveFailures, 100_000);
    this.rampMs = ms("rampMs", orDefault(options.rampMs, 0), 0);
    this.openMs = ms("openMs", orDefault(options.openMs, 5_000));
    this.probes = whole("probes", orDefault(options.probes, 3), 1_000);
    this.probeTimeoutMs = probeTimeoutMs === undefined ? undefined : ms("probeTimeoutMs", probeTimeoutMs);
    const leaseMs = orDefault(options.probeLeaseMs, Math.max(this.openMs, this.probeTimeoutMs ?? 0));
    this.probeLeaseMs = ms("probeLeaseMs", leaseMs, this.probeTimeoutMs);
    this.throttlingFails =
      word("throttling", orDefault(options.throttling, "failure"), ["failure", "ignored"]) === "failure";
    this.refusalsFail =
      word("localRefusals", orDefault(options.localRefusals, "ignored"), ["ignored", "failure"]) ===
      "failure";
    this.mode = word("mode", orDefault(options.mode, "enforce"), BREAKER_MODES);
    this.reopen = checkReopen(`${field}.reopen`, orDefault(options.reopen, growing()), this.openMs);
  }

  private newWindow(): Window {
    return this.calls === undefined ? new TimeWindow(this.windowMs) : new CountWindow(this.calls);
  }

  /** A period in which calls pass, beginning at `since`; null where it does not come back from being open. */
  newPeriod(since: number | null): Closed {
    const slow = this.slowCallMs < Infinity ? this.newWindow() : null;
    return { name: "closed", window: this.newWindow(), slow, since, inARow: 0 };
  }

  /** Whether what a period has seen opens the breaker. */
  trips({ window, slow, inARow }: Closed): boolean {
    if (inARow >= this.consecutiveFailures) return true;
    if (this.isMost(window, this.failureRate)) return true;
    return slow !== null && this.isMost(slow, this.slowCallRate);
  }

  private isMost(window: Window, rate: number): boolean {
    return window.total >= this.minimumCalls && window.failures >= rate * window.total;
  }

  /** How long the `openings`-th opening in a row (from 1) lasts; `random` is uniform in [0, 1). */
  openForMs(openings: number, random: number): number {
    const { kind, jitter, factor, maxMs } = this.reopen;
    let ms = this.openMs;
    if (kind === "growing") for (let i = 1; i < openings && ms < maxMs; i++) ms *= factor;
    ms = Math.min(ms, maxMs);
    // At most what a snapshot may say.
    return kind === "fixed" ? ms : Math.min(MAX_TIMER_MS, ms * (1 + jitter * random));
  }
}

/** How many calls, or how many ms, a closed breaker remembers. */
function checkWindow(
  field: string,
  window: { readonly calls: number } | { readonly ms: number },
): { calls: number | undefined; ms: number } {
  checkKeys(field, window, ["calls", "ms"]);
  if ("calls" in window === "ms" in window) throw new OptionError(field, window, "either calls or ms");
  if ("ms" in window) {
    return { calls: undefined, ms: checkMs(`${field}.ms`, window.ms, { min: 10, max: 3_600_000 }) };
  }
  const { calls } = window;
  return { calls: checkNumber(`${field}.calls`, calls, { min: 1, max: 100_000, integer: true }), ms: 0 };
}

function checkReopen(field: string, options: ReopenOptions, openMs: number): Required<ReopenOptions> {
  checkKeys(field, options, ["kind", "jitter", "factor", "maxMs"]);
  return {
    kind: checkOneOf(`${field}.kind`, options.kind, ["fixed", "jittered", "growing"]),
    jitter: checkNumber(`${field}.jitter`, orDefault(options.jitter, 0.2), { max: 1 }),
    factor: checkNumber(`${field}.factor`, orDefault(options.factor, 2), { min: 1, max: 100 }),
    maxMs: checkMs(`${field}.maxMs`, orDefault(options.maxMs, Math.min(12 * openMs, MAX_TIMER_MS)), {
      min: openMs,
    }),
  };
}
