/**
 * The budgets of others, for who has to match them: gRPC's retry throttle, the AWS SDKs' retry quota, Envoy's share of
 * what is in flight, and Finagle's (and Linkerd's) share of a sliding window. Each keeps the books of `budget.ts`, so
 * hedges count and waiting repeats count, also where the original forgets them.
 *
 * Sources: gRPC proposal A6 (retryThrottling); AWS SDK retry behaviour 2.1 (quota 500, 14 and 5) and the one before
 * (5 and 10); Envoy's cluster retry_budget (20 % of active, at least 3) and envoyproxy/envoy#30205 (retries in backoff
 * escaped it); Finagle's RetryBudget (20 % and 10 a second over 10 s).
 */
import { TimeWindow } from "../breaker/window.ts";
import type { Exit, Failed } from "../call.ts";
import { checkKeys, checkMs, checkNumber, checkOneOf, orDefault } from "../options.ts";
import { Budget, type Token } from "./budget.ts";
import { type BudgetOptions, ONE, RetryBudget } from "./machine.ts";

/** Options of `grpcThrottle`, under the names of a service config. */
export interface GrpcThrottleOptions {
  /** Tokens that a full bucket holds; 1 to 1,000, whole. No default, as in a service config. */
  readonly maxTokens: number;
  /** What a success earns; above 0, at most 1,000; decimals after the third are ignored. No default. */
  readonly tokenRatio: number;
}

/** Options of `awsQuota`. */
export interface AwsQuotaOptions {
  /** "2.1": since 10 November 2026; "legacy": before. Default "2.1" (AWS SDK retry behaviour). */
  readonly version?: "2.1" | "legacy";
}

/** Options of `concurrencyShare`. */
export interface ConcurrencyShareOptions {
  /** Repeats that wait or are in flight, as a share of all that is in flight; 0 to 1. Default 0.2 (Envoy). */
  readonly share?: number;
  /** As many are always allowed; 0 to 1,000,000, whole. Default 3 (Envoy). */
  readonly min?: number;
}

/** Options of `windowShare`. */
export interface WindowShareOptions {
  /** Repeats per first attempt in the window; 0 to 1. Default 0.2 (Finagle). */
  readonly ratio?: number;
  /** As many a second are allowed beside; 0 to 1,000,000. Default 10 (Finagle). */
  readonly perSecond?: number;
  /** The window, in ms, 10 to 3,600,000. Default 10,000 (Finagle). */
  readonly windowMs?: number;
}

/** A budget as data: the options of a ratio budget, or made with one of the functions below. */
export type BudgetSpec =
  | BudgetOptions
  | ({ readonly kind: "grpc" } & GrpcThrottleOptions)
  | ({ readonly kind: "aws" } & AwsQuotaOptions)
  | ({ readonly kind: "concurrencyShare" } & ConcurrencyShareOptions)
  | ({ readonly kind: "windowShare" } & WindowShareOptions);

/** gRPC's: a failure costs a token, a success earns `tokenRatio`; repeats only while more than half are left. */
export function grpcThrottle(options: GrpcThrottleOptions): BudgetSpec {
  return { kind: "grpc", ...options };
}

/** The AWS SDKs': 500 tokens; a repeat costs 14, or 5 after throttling; a success gives back what its repeat cost. */
export function awsQuota(options: AwsQuotaOptions = {}): BudgetSpec {
  return { kind: "aws", ...options };
}

/** Envoy's: a share of what is in flight. It follows the load at once, and needs no history. */
export function concurrencyShare(options: ConcurrencyShareOptions = {}): BudgetSpec {
  return { kind: "concurrencyShare", ...options };
}

/** Finagle's and Linkerd's: a share of the first attempts of the last seconds, and some beside. */
export function windowShare(options: WindowShareOptions = {}): BudgetSpec {
  return { kind: "windowShare", ...options };
}

/** The budget that `spec` describes. */
export function budgetOf(spec: BudgetSpec = {}, field = "budget"): Budget {
  if (typeof spec !== "object" || spec === null || !("kind" in spec)) return new RetryBudget(spec, field);
  const kind = checkOneOf(`${field}.kind`, spec.kind, KINDS);
  checkKeys(field, spec, ["kind", ...FIELDS[kind]]);
  return RULES[kind](spec as never, field);
}

/** The bucket counts outcomes; a repeat itself costs nothing. */
class GrpcThrottle extends Budget {
  private readonly full: number;
  private readonly earning: number;
  private thousandths: number;

  constructor(options: GrpcThrottleOptions, field: string) {
    super();
    const { maxTokens, tokenRatio } = options;
    this.full = ONE * checkNumber(`${field}.maxTokens`, maxTokens, { min: 1, max: 1_000, integer: true });
    this.earning = Math.floor(
      ONE * checkNumber(`${field}.tokenRatio`, tokenRatio, { min: 0.001, max: 1_000 }) + 1e-6,
    );
    this.thousandths = this.full;
  }

  override get level(): number {
    return this.thousandths / ONE;
  }

  override settled(exit: Exit, token: Token | null): void {
    super.settled(exit, token);
    if (exit.kind === "ok") this.thousandths = Math.min(this.full, this.thousandths + this.earning);
    else if (exit.kind === "failed" && counts(exit)) this.thousandths = Math.max(0, this.thousandths - ONE);
  }

  protected override take(): number | null {
    return 2 * this.thousandths > this.full ? 0 : null;
  }

  protected override giveBack(): void {}
}

/** gRPC counts what was worth a repeat, and what was refused one; not what never reached the server's application. */
function counts(failure: Failed): boolean {
  return failure.ended !== "unsent" && (failure.class !== "permanent" || failure.pushback === "never");
}

const AWS_TOKENS = 500;
const AWS_COSTS = {
  "2.1": { throttling: 5, timeout: 14, transient: 14 },
  legacy: { throttling: 5, timeout: 10, transient: 5 },
} as const;

class AwsQuota extends Budget {
  private readonly costs: (typeof AWS_COSTS)["2.1" | "legacy"];
  private tokens = AWS_TOKENS;

  constructor(options: AwsQuotaOptions, field: string) {
    super();
    const version = checkOneOf(`${field}.version`, orDefault(options.version, "2.1"), ["2.1", "legacy"]);
    this.costs = AWS_COSTS[version];
  }

  override get level(): number {
    return this.tokens;
  }

  override settled(exit: Exit, token: Token | null): void {
    super.settled(exit, token);
    if (exit.kind === "ok") this.giveBack(token === null ? 1 : token.cost);
  }

  protected override take(_now: number, because: Failed | null): number | null {
    const cost = this.costs[this.familyOf(because)];
    if (this.tokens < cost) return null;
    this.tokens -= cost;
    return cost;
  }

  protected override giveBack(cost: number): void {
    this.tokens = Math.min(AWS_TOKENS, this.tokens + cost);
  }

  private familyOf(because: Failed | null): "throttling" | "timeout" | "transient" {
    if (because?.class === "throttling") return "throttling";
    return because?.ended === "timeout" ? "timeout" : "transient";
  }
}

class ConcurrencyShare extends Budget {
  private readonly share: number;
  private readonly min: number;
  /** Attempts sent and not answered, and the repeats among them. */
  private inFlight = 0;
  private repeating = 0;

  constructor(options: ConcurrencyShareOptions, field: string) {
    super();
    this.share = checkNumber(`${field}.share`, orDefault(options.share, 0.2), { max: 1 });
    this.min = checkNumber(`${field}.min`, orDefault(options.min, 3), { max: 1_000_000, integer: true });
  }

  override get countsInFlight(): boolean {
    return true;
  }

  override get level(): number {
    return Math.max(this.min, this.share * (this.inFlight + this.reserved)) - this.repeating - this.reserved;
  }

  override settled(exit: Exit, token: Token | null): void {
    super.settled(exit, token);
    this.inFlight--;
    if (token !== null) this.repeating--;
  }

  protected override take(): number | null {
    return this.level >= 1 ? 1 : null;
  }

  protected override giveBack(): void {}

  protected override earn(): void {
    this.inFlight++;
  }

  protected override spend(): void {
    this.inFlight++;
    this.repeating++;
  }
}

class WindowShare extends Budget {
  private readonly ratio: number;
  private readonly beside: number;
  /** Everything sent; a "failure" in it is a repeat. */
  private readonly sent: TimeWindow;

  constructor(options: WindowShareOptions, field: string) {
    super();
    this.ratio = checkNumber(`${field}.ratio`, orDefault(options.ratio, 0.2), { max: 1 });
    const perSecond = checkNumber(`${field}.perSecond`, orDefault(options.perSecond, 10), { max: 1_000_000 });
    const windowMs = checkMs(`${field}.windowMs`, orDefault(options.windowMs, 10_000), {
      min: 10,
      max: 3_600_000,
    });
    this.beside = (perSecond * windowMs) / 1000;
    this.sent = new TimeWindow(windowMs);
  }

  override get level(): number {
    const { total, failures } = this.sent;
    return this.beside + this.ratio * (total - failures) - failures - this.reserved;
  }

  protected override take(now: number): number | null {
    this.sent.advance(now);
    return this.level >= 1 ? 1 : null;
  }

  protected override giveBack(): void {}

  protected override earn(now: number): void {
    this.sent.add(false, now);
  }

  protected override spend(now: number): void {
    this.sent.add(true, now);
  }
}

const FIELDS = {
  grpc: ["maxTokens", "tokenRatio"],
  aws: ["version"],
  concurrencyShare: ["share", "min"],
  windowShare: ["ratio", "perSecond", "windowMs"],
} as const;
type Kind = keyof typeof FIELDS;
const KINDS = Object.keys(FIELDS) as Kind[];

const RULES: Readonly<Record<Kind, (options: never, field: string) => Budget>> = {
  grpc: (options: GrpcThrottleOptions, field) => new GrpcThrottle(options, field),
  aws: (options: AwsQuotaOptions, field) => new AwsQuota(options, field),
  concurrencyShare: (options: ConcurrencyShareOptions, field) => new ConcurrencyShare(options, field),
  windowShare: (options: WindowShareOptions, field) => new WindowShare(options, field),
};
