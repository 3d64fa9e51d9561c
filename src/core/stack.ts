/**
 * A stack of guards, outermost first, bound to one runtime and one operation.
 *
 * Any order of sequences and admitters can be written; neighbouring admitters fold into one run, and the attempt
 * timeout is always innermost. The library's own order, which `dependency().operation()` uses, is
 *
 *     fallback → deadline → coalesce → retry → hedge → [breaker · adaptive throttle · rate limit · bulkhead] →
 *     attempt timeout → work
 *
 * (where the deadline of a whole call is a field of the call, set before the first layer). A stack in that order
 * without coalescing and hedge takes the fused path, any other the generators. Both ask the same machines
 * and make the same attempts; their event logs are equal byte for byte.
 */
import type { Admission } from "./admission.ts";
import type { Admitter, Asking } from "./admitter.ts";
import type { Attempt } from "./attempt.ts";
import type { Budget } from "./budget/budget.ts";
import { Call, type CallFields, type OperationSpec, PLAIN_CALL, type Rejected } from "./call.ts";
import { DeadlineGuard } from "./deadline/guard.ts";
import { attemptOf, GeneratedCall, type Next, type Sequence, scopeOf } from "./driver.ts";
import { OptionError } from "./errors.ts";
import { FallbackGuard } from "./fallback/guard.ts";
import { FusedCall, type FusedPolicy } from "./fused.ts";
import type { Judge, Leaf } from "./leaf.ts";
import { checkMs } from "./options.ts";
import type { Answer, CallProcess } from "./progress.ts";
import { RetryGuard } from "./retry/guard.ts";
import type { Room } from "./room.ts";
import { Run } from "./run.ts";
import type { Runtime } from "./runtime.ts";
import { AttemptTimeout } from "./timeout/guard.ts";

/** Starts the work: by promises in production, by events in the simulator. */
export type Perform = (attempt: Attempt, work: unknown) => void;

/** What a guard is bound to when it becomes a layer of a stack. */
export interface Binding {
  readonly runtime: Runtime;
  readonly dependency: string;
  readonly operation: string;
  readonly idempotent: boolean;
  /** What repeats spend; null for no budget. */
  readonly budget: Budget | null;
  readonly minUsefulMs: number;
  /** A leaf with no guards but these, and without the judge of the operation's answers: for work of a guard's own. */
  leaf(settings: LeafSettings): Leaf;
}

/** What a guard's own work is bounded by. */
export interface LeafSettings {
  readonly attemptTimeoutMs: number;
  readonly admitters: readonly Admitter[];
}

/** A guard made from options; it gets its runtime in a stack, so one guard serves production and simulation. */
export interface Guard {
  readonly name: string;
  bind(at: Binding): Layer;
}

/** A bound guard. */
export type Layer = Sequence | Admitter | AttemptTimeout;

/** What a stack is for. */
export interface StackOptions {
  /** Clock, timers and randomness. */
  readonly runtime: Runtime;
  /** Stands in errors and events. */
  readonly dependency: string;
  /** Likewise. */
  readonly operation: string;
  /** Whether repeating has the same effect as doing it once. Default false. */
  readonly idempotent?: boolean;
  /** What repeats spend. Default: none is kept. */
  readonly budget?: Budget | null;
  /** An attempt is not started with less time left than this, in ms. Default 0. */
  readonly minUsefulMs?: number;
  /** Starts the work; `performPromise` for promises. */
  readonly perform: Perform;
  /** Says what the work gave. Default: the library's own, which knows what its adapters and Node's own errors say. */
  readonly judge?: Judge | null;
  /** For comparison only: drives even the library's own order through generators. Default false. */
  readonly generators?: boolean;
}

/** A bound stack: starts calls. */
export class Stack {
  readonly runtime: Runtime;
  readonly leaf: Leaf;
  /** Every leaf: its own, and those of guards that have work of their own. */
  private readonly leaves: Leaf[] = [];
  private readonly options: StackOptions;
  private readonly fused: FusedPolicy | null;
  private readonly policy: Next | null;
  private readonly continuesLater: boolean;
  private readonly spec: OperationSpec;
  /** Stands for any plain call when guards are asked without making one; null where that is of no use. */
  private readonly inquiry: Asking | null;
  /** On the fused path the fallback's reserve is taken off here; the generators do it in the fallback's layer. */
  private readonly reserveMs: number;

  constructor(options: StackOptions, guards: readonly Guard[]) {
    this.options = options;
    const { dependency, operation, idempotent = false, minUsefulMs = 0 } = options;
    checkMs("stack.minUsefulMs", minUsefulMs);
    this.spec = { dependency, operation, idempotent };
    this.runtime = options.runtime;
    const layers = guards.map((guard) => guard.bind(this.binding()));
    const admitters = innermostAdmitters(layers);
    const sequences = layers.slice(
      0,
      layers.length - admitters.length - (layers.at(-1) instanceof AttemptTimeout ? 1 : 0),
    );
    this.leaf = this.newLeaf(admitters, timeoutOf(layers));
    this.leaves.push(this.leaf);
    this.fused = options.generators === true ? null : fusedPolicy(sequences, this.leaf);
    this.reserveMs = this.fused?.fallback?.reserveMs ?? 0;
    this.policy = this.fused === null ? nest(sequences, this.leaf) : null;
    this.inquiry =
      this.fused === null || this.fused.fallback !== null
        ? null
        : { call: new Call(this.spec, PLAIN_CALL, Infinity, 0), kind: "original" };
    this.continuesLater = sequences.some((layer) => !(layer instanceof DeadlineGuard));
  }

  /**
   * The refusal that a plain call would meet at once, or null: asked before anything is made of the call. Null also
   * where a refusal is not the end of it (a fallback, a listener, something running).
   */
  refusalNow(): Rejected | null {
    const { runtime, leaf } = this;
    const inquiry = this.inquiry;
    if (!leaf.run.mayRefuse || inquiry === null || runtime.sink !== null || runtime.loop.running) return null;
    const now = leaf.run.timed ? runtime.now() : 0;
    const answer = askQuietly(leaf.run, inquiry, now);
    if (answer === null || answer.kind !== "rejected") return null;
    if (leaf.run.hearsRefusals) leaf.run.refusedBy(answer, inquiry, now);
    return answer;
  }

  /** Attempts that were given up and still run; a fallback's, too. */
  get abandoned(): number {
    return this.leaves.reduce((sum, leaf) => sum + leaf.abandoned, 0);
  }

  /** Starts a call. `answer` hears how it ended; `cancel` on what is returned gives it up. */
  start(work: unknown, fields: CallFields, deadline: number, answer: Answer | null): CallProcess {
    return this.startAt(this.runtime.now(), work, fields, deadline, answer);
  }

  /** The same for whoever has just read the clock; `outer` is the attempt in the course of which the call is made. */
  startAt(
    now: number,
    work: unknown,
    fields: CallFields,
    deadline: number,
    answer: Answer | null,
    outer: Admission | null = null,
  ): CallProcess {
    const { runtime, fused, spec } = this;
    const started =
      fused !== null
        ? new FusedCall(runtime, spec, fields, deadline - this.reserveMs, work, answer, fused, outer)
        : new GeneratedCall(runtime, spec, fields, deadline, work, answer, this.policy as Next, outer);
    started.start(this.continuesLater, now);
    return started;
  }

  private binding(): Binding {
    const {
      runtime,
      dependency,
      operation,
      idempotent = false,
      budget = null,
      minUsefulMs = 0,
    } = this.options;
    const leaf = ({ attemptTimeoutMs, admitters }: LeafSettings): Leaf => {
      const own = this.newLeaf(admitters, attemptTimeoutMs);
      const made = { ...own, budget: null, minUsefulMs: 0, judge: null };
      this.leaves.push(made);
      return made;
    };
    return { runtime, dependency, operation, idempotent, budget, minUsefulMs, leaf };
  }

  private newLeaf(admitters: readonly Admitter[], attemptTimeoutMs: number): Leaf {
    const { perform, judge = null, budget = null, minUsefulMs = 0 } = this.options;
    const { dependency, operation } = this.spec;
    return {
      run: new Run(admitters),
      attemptTimeoutMs,
      minUsefulMs,
      reclaimAbandonedAfterMs: Math.min(
        ...admitters.map((admitter) => admitter.reclaimAbandonedAfterMs ?? Infinity),
      ),
      budget,
      perform,
      judge,
      destinations: this.runtime.random.fork(`destination ${dependency}.${operation}`),
      abandoned: 0,
    };
  }
}

/** Null also where a callback of the user's threw: the call itself will meet it again, and report it. */
function askQuietly(run: Run, asking: Asking, now: number): Rejected | Room | null {
  try {
    return run.check(asking, now);
  } catch {
    return null;
  }
}

function isAdmitter(layer: Layer | undefined): layer is Admitter {
  return layer !== undefined && "check" in layer;
}

function timeoutOf(layers: readonly Layer[]): number {
  const misplaced = layers.slice(0, -1).find((layer) => layer instanceof AttemptTimeout);
  if (misplaced !== undefined) {
    throw new OptionError(
      "timeout",
      misplaced.attemptTimeoutMs,
      "the innermost layer only (use deadline() to bound a whole call)",
    );
  }
  const last = layers.at(-1);
  return last instanceof AttemptTimeout ? last.attemptTimeoutMs : Infinity;
}

/** The admitters that stand directly around the attempt. */
function innermostAdmitters(layers: readonly Layer[]): Admitter[] {
  const run: Admitter[] = [];
  let at = layers.length - (layers.at(-1) instanceof AttemptTimeout ? 2 : 1);
  for (let layer = layers[at]; isAdmitter(layer); layer = layers[--at]) run.unshift(layer);
  return run;
}

/** The library's own order, if that is what these layers are. */
function fusedPolicy(layers: readonly Layer[], leaf: Leaf): FusedPolicy | null {
  const rest = [...layers];
  const fallback = rest[0] instanceof FallbackGuard ? (rest.shift() as FallbackGuard) : null;
  const retry = rest[0] instanceof RetryGuard ? (rest.shift() as RetryGuard) : null;
  const mindsAnswers = fallback?.mindsAnswers === true;
  return rest.length === 0 ? { fallback, retry, leaf, mindsAnswers } : null;
}

/** The layers as generators within generators. */
function nest(layers: readonly Layer[], leaf: Leaf): Next {
  let next = attemptOf(leaf);
  let run: Admitter[] = [];
  for (const layer of [...layers].reverse()) {
    if (isAdmitter(layer)) {
      run.unshift(layer);
      continue;
    }
    if (run.length > 0) next = scopeOf(new Run(run), next);
    run = [];
    const sequence = layer as Sequence;
    const inner = next;
    next = (plan, fiber) => sequence.run(plan, inner, fiber);
  }
  return run.length > 0 ? scopeOf(new Run(run), next) : next;
}
