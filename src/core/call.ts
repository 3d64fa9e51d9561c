/**
 * A call, and the ways it can end.
 *
 * An *outcome* is what a guard may produce: the dependency answered (`ok`), it failed (`failed`), or this process
 * refused locally and sent nothing (`rejected`). An *exit* adds `cancelled`, which only callers produce.
 * Failures say two things that decide everything later: their class (may a repeat help?) and their effect (may the
 * failed attempt have changed something?). Source: the resilience notes, §01 and §03.
 */

/**
 * How essential a call is, most essential first (the SRE book's four levels). Only what a trusted caller says
 * counts. Default of a call: `critical`.
 */
export type Criticality = "criticalPlus" | "critical" | "sheddablePlus" | "sheddable";

/**
 * Why an attempt is made. A probe is one that a half-open breaker let through; a fallback is the substitute's own work,
 * which sends nothing to the dependency.
 */
export type AttemptKind = "original" | "retry" | "hedge" | "probe" | "fallback";

/**
 * Whether a repeat may help. `transient`: later or elsewhere it may work. `throttling`: the dependency asked for
 * less. `permanent`: the same request fails again (a business refusal is one). `unknown`: nobody classified it,
 * treated as transient. `partial` and `corrupt` come from a validator of replies.
 */
export type FailureClass = "transient" | "throttling" | "permanent" | "unknown" | "partial" | "corrupt";

/** What a failed attempt may have changed: `none` when it certainly did not run, else `unknown`. */
export type Effect = "none" | "unknown";

/**
 * The dependency's own word about repeating: wait at least this many ms (jitter comes on top), exactly this many (gRPC's
 * pushback, after which the backoff begins anew), or never.
 */
export type Pushback = number | { readonly exactlyMs: number } | "never";

/** The dependency answered. */
export interface Ok<T> {
  readonly kind: "ok";
  readonly value: T;
  /** Set when this is less than the whole answer: by the callee's own word, or by what the fallback replaced. */
  readonly degradedBy?: "callee" | Failed | Rejected | undefined;
}

/** The attempt was sent (or tried to be) and failed. */
export interface Failed {
  readonly kind: "failed";
  readonly error: unknown;
  readonly class: FailureClass;
  readonly effect: Effect;
  readonly pushback?: Pushback | undefined;
  /** How far it got: `unsent` never left, `timeout` ran its full time, `clipped` ended at the call's deadline. */
  readonly ended?: "unsent" | "timeout" | "clipped" | undefined;
  /** A guarded call within the work has failed with this error after it had tried again, or decided not to. */
  readonly exhausted?: true;
  /** The local refusal that prevented another attempt, when one did. */
  readonly stoppedBy?: Rejected | undefined;
}

/** Refused here, before anything was sent: `sent` would be false by definition. It costs no stack trace. */
export interface Rejected {
  readonly kind: "rejected";
  /** The guard that refused, by its field name: `breaker`, `bulkhead`, `budget`, `deadline` … */
  readonly by: string;
  /** What it saw, in a word or two: `open`, `full`, `expired` … */
  readonly reason: string;
  /** A hint: before this many ms the same refusal is certain. */
  readonly retryAfterMs?: number | undefined;
}

/** The caller no longer wants the answer. */
export interface Cancelled {
  readonly kind: "cancelled";
  readonly reason: unknown;
}

/** What a guarded call gives. */
export type Outcome<T = unknown> = Ok<T> | Failed | Rejected;

/** How a call ends: an outcome, or cancelled from outside. */
export type Exit<T = unknown> = Outcome<T> | Cancelled;

/** A whole answer. */
export function ok<T>(value: T): Ok<T> {
  return { kind: "ok", value, degradedBy: undefined };
}

/** An answer of the callee that is less than whole, by its own word. */
export function degraded<T>(value: T): Ok<T> {
  return { kind: "ok", value, degradedBy: "callee" };
}

/** A failure of the dependency. Default effect: `unknown`, which is the safe assumption about a write. */
export function failed(
  error: unknown,
  failureClass: FailureClass,
  more?: Partial<Pick<Failed, "effect" | "pushback" | "ended">>,
): Failed {
  return {
    kind: "failed",
    error,
    class: failureClass,
    effect: more?.effect ?? "unknown",
    pushback: more?.pushback,
    ended: more?.ended,
    stoppedBy: undefined,
  };
}

/** How the later of two attempts of a call ended; what the earlier one may have done, the call may have done. */
export function after(earlier: Exit | null, exit: Exit): Exit {
  if (exit.kind !== "failed" || exit.effect === "unknown") return exit;
  return earlier?.kind === "failed" && earlier.effect === "unknown" ? { ...exit, effect: "unknown" } : exit;
}

/** A local refusal. Where nothing in it varies, prepare one and hand it out again and again. */
export function rejected(by: string, reason: string, retryAfterMs?: number): Rejected {
  return { kind: "rejected", by, reason, retryAfterMs };
}

/** What names a call and decides how it is treated; everything a guard may look at. */
export interface CallFields {
  readonly criticality: Criticality;
  /** Whose work this is; empty when unknown. */
  readonly tenant: string;
  /** What a keyed guard keys on (a shard, a country, a host); empty when unkeyed. */
  readonly key: string;
  /** The same on every attempt of a write, so that the callee can return its first result. */
  readonly idempotencyKey: string | undefined;
  /** How much memory it holds, in bytes; 0 when unknown. Queues and bulkheads bound the sum (`maxBytes`). */
  readonly bytes: number;
}

/** A call about which nothing is known. */
export const PLAIN_CALL: CallFields = Object.freeze({
  criticality: "critical",
  tenant: "",
  key: "",
  idempotencyKey: undefined,
  bytes: 0,
});

/** What a call is made to: shared by all calls of an operation. */
export interface OperationSpec {
  readonly dependency: string;
  readonly operation: string;
  /** Whether repeating it has the same effect as making it once. */
  readonly idempotent: boolean;
}

/** One logical call: plain data, shared by all its attempts. */
export class Call implements OperationSpec, CallFields {
  readonly spec: OperationSpec;
  readonly fields: CallFields;
  /** Absolute, in the runtime's monotonic ms; `Infinity` when there is none. */
  readonly deadline: number;
  /** A number of its own within the runtime; 0 while nobody listens to events. */
  id: number;

  constructor(spec: OperationSpec, fields: CallFields, deadline: number, id: number) {
    this.spec = spec;
    this.fields = fields;
    this.deadline = deadline;
    this.id = id;
  }

  get dependency(): string {
    return this.spec.dependency;
  }

  get operation(): string {
    return this.spec.operation;
  }

  get idempotent(): boolean {
    return this.spec.idempotent;
  }

  get criticality(): Criticality {
    return this.fields.criticality;
  }

  get tenant(): string {
    return this.fields.tenant;
  }

  get key(): string {
    return this.fields.key;
  }

  get idempotencyKey(): string | undefined {
    return this.fields.idempotencyKey;
  }

  get bytes(): number {
    return this.fields.bytes;
  }

  /** Whether a failed attempt of unknown effect may be made again. */
  get repeatable(): boolean {
    return this.idempotent || this.idempotencyKey !== undefined;
  }

  /** The same call with some fields changed; a deadline can only come closer. */
  with(changes: Partial<CallFields> & { readonly deadline?: number }): Call {
    const { deadline = Infinity, ...fields } = changes;
    return new Call(this.spec, { ...this.fields, ...fields }, Math.min(this.deadline, deadline), this.id);
  }

  /** The same call with all the time in the world: for a fallback, which has a limit of its own. */
  withoutDeadline(): Call {
    return new Call(this.spec, this.fields, Infinity, this.id);
  }
}
