/**
 * The calling side of an edge: one instance of a caller, all instances of a callee. The guards are the core's own,
 * made from the options on the edge; the link only sends what they let through, to an instance chosen at random.
 */
import type { Attempt } from "../core/attempt.ts";
import { type Exit, PLAIN_CALL } from "../core/call.ts";
import type { ClassifiedError } from "../core/classify.ts";
import { DependencyPolicy, type OperationPolicy } from "../core/policy.ts";
import type { OperationOptions } from "../core/policy-options.ts";
import type { Answer, CallProcess } from "../core/progress.ts";
import type { Random } from "../core/random.ts";
import type { Runtime } from "../core/runtime.ts";
import type { BoundEdge } from "../system/bind.ts";
import { Ticker, type Ticking } from "./clock.ts";
import { Exchange, FINAL_503, FINAL_504, type Origin, RETRYABLE_503, RETRYABLE_504 } from "./exchange.ts";
import type { Served, Server } from "./server.ts";
import type { LinkTap } from "./taps.ts";

/** One operation of a callee, as one caller sees it. */
export class Target {
  readonly link: Link;
  readonly operation: string;
  /** Its index among the callee's operations. */
  readonly index: number;
  /** Its guards; replaced when an operator changes them. */
  policy: OperationPolicy;

  constructor(link: Link, operation: string, index: number, policy: OperationPolicy) {
    this.link = link;
    this.operation = operation;
    this.index = index;
    this.policy = policy;
  }

  /** Starts a call on behalf of `origin`, whose `target` is this. */
  call(origin: Origin, deadline: number, answer: Answer): CallProcess {
    return this.policy.start(origin, PLAIN_CALL, deadline, answer);
  }
}

/** How often requests get stuck, and for how long. */
export interface Stalling {
  readonly probability: number;
  readonly ms: number;
}

/** The guards and the wire from one instance to a service. */
export class Link {
  readonly servers: readonly Server[];
  readonly tap: LinkTap;
  /** Whether a caller that gives up is heard. */
  carriesCancels = false;
  /** What the callee's failures are to this caller. */
  unavailable: ClassifiedError = RETRYABLE_503;
  late: ClassifiedError = RETRYABLE_504;
  readonly targets: Map<string, Target> = new Map();
  readonly runtime: Runtime;
  private readonly random: Random;
  private shared: DependencyPolicy | null = null;
  private sends: "none" | "attempt" | "request" = "none";
  private marginMs = 0;
  private bound: BoundEdge | null = null;
  private stalling: Stalling | null = null;
  private readonly stalls: Random;

  constructor(runtime: Runtime, name: string, servers: readonly Server[], tap: LinkTap) {
    this.runtime = runtime;
    this.random = runtime.random.fork(`instance for ${name}`);
    this.stalls = runtime.random.fork(`stalls on ${name}`);
    this.servers = servers;
    this.tap = tap;
  }

  /** The shared guards. */
  get policy(): DependencyPolicy {
    return this.shared as DependencyPolicy;
  }

  /**
   * Takes these guards from now on. Calls in progress keep theirs, and so does every operation whose options are
   * what they were; a change of what is shared starts all of it afresh.
   */
  guard(edge: BoundEdge, cancelsLost: boolean, stalling: Stalling | null = null): void {
    this.stalling = stalling;
    const { wire } = edge;
    this.carriesCancels = wire.cancel && !cancelsLost;
    this.unavailable = wire.unavailable === "final" ? FINAL_503 : RETRYABLE_503;
    this.late = wire.late === "final" ? FINAL_504 : RETRYABLE_504;
    this.sends = wire.deadline;
    this.marginMs = wire.marginMs ?? 0;
    const before = this.bound;
    this.bound = edge;
    const afresh = before === null || !same(before.dependency, edge.dependency);
    if (afresh) {
      const send = (attempt: Attempt, work: unknown) => this.send(attempt, work);
      this.shared = new DependencyPolicy(edge.dependency, this.runtime, send);
    }
    for (const [name, options] of Object.entries(edge.operations)) {
      if (afresh || !same(before?.operations[name], options)) this.operation(name, options);
    }
  }

  private operation(name: string, options: OperationOptions): void {
    const policy = this.policy.operation(name, options);
    const target = this.targets.get(name);
    if (target !== undefined) target.policy = policy;
    else this.targets.set(name, new Target(this, name, this.indexOf(name), policy));
  }

  private indexOf(name: string): number {
    return (this.servers[0] as Server).indexOf(name);
  }

  /** What the kernel performs: an attempt at the callee, or a fallback, which is a function. */
  private send(attempt: Attempt, work: unknown): void {
    if (typeof work === "function") {
      attempt.succeed((work as (a: Attempt) => unknown)(attempt));
      return;
    }
    const origin = work as Origin;
    const { servers } = this;
    const chosen = servers.length === 1 ? 0 : Math.floor(this.random.next() * servers.length);
    const server = servers[chosen] as Server;
    const { index } = origin.target;
    const exchange = new Exchange(this, server.operations[index] as Served, origin, attempt);
    this.tap.sent(exchange, attempt.number);
    const { stalling } = this;
    const deadline = this.deadlineFor(attempt);
    if (stalling !== null && this.stalls.next() < stalling.probability)
      new Stalled(exchange, server, index, deadline).begin(stalling.ms);
    else exchange.callee = server.serve(exchange, index, deadline);
  }

  /** The absolute end of the time that is sent along; the clocks of the model agree. */
  private deadlineFor(attempt: Attempt): number {
    if (this.sends === "none") return Infinity;
    const whole = attempt.call.deadline;
    const until = this.sends === "request" && whole < Infinity ? whole : attempt.deadline;
    return until - this.marginMs;
  }
}

/** A request that is stuck on its way: it arrives late, unless its caller has said meanwhile that it gives up. */
class Stalled implements Ticking {
  private readonly exchange: Exchange;
  private readonly server: Server;
  private readonly operation: number;
  private readonly deadline: number;

  constructor(exchange: Exchange, server: Server, operation: number, deadline: number) {
    this.exchange = exchange;
    this.server = server;
    this.operation = operation;
    this.deadline = deadline;
  }

  begin(ms: number): void {
    new Ticker(this.server.runtime, this).start(ms);
  }

  tick(): void {
    const { exchange, server } = this;
    if (exchange.givenUp && exchange.link.carriesCancels) return;
    exchange.callee = server.serve(exchange, this.operation, this.deadline);
  }
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Reads the exit of a call at the caller. */
export function refusedBy(exit: Exit): string | null {
  if (exit.kind === "rejected") return exit.by;
  if (exit.kind === "failed") return exit.stoppedBy?.by ?? null;
  if (exit.kind !== "ok" || exit.degradedBy === undefined || exit.degradedBy === "callee") return null;
  return refusedBy(exit.degradedBy);
}
