/**
 * A service in the model. Its side of a request is a call of its own policy: a bulkhead whose limit is the number
 * of places and whose queue is the core's admission queue; the work of that call is the handler. The deadline of the
 * call is what the wire carried; a place is held until the handler has truly ended.
 */
import type { Attempt } from "../core/attempt.ts";
import { PLAIN_CALL } from "../core/call.ts";
import { DependencyPolicy, type OperationPolicy } from "../core/policy.ts";
import type { DependencyOptions } from "../core/policy-options.ts";
import type { CallProcess } from "../core/progress.ts";
import type { Runtime } from "../core/runtime.ts";
import { bindQueue } from "../system/bind.ts";
import type { ServiceSpec } from "../system/types.ts";
import type { WorkTime } from "./duration.ts";
import type { Exchange } from "./exchange.ts";
import { Handler } from "./handler.ts";
import type { Target } from "./link.ts";
import type { ServerTap } from "./taps.ts";

/** An operation as it is served. */
export interface Served {
  readonly server: Server;
  readonly name: string;
  readonly write: boolean;
  time: WorkTime;
  /** What it calls, in order. */
  readonly calls: readonly Target[];
}

/** One instance of a service. */
export class Server {
  readonly name: string;
  readonly runtime: Runtime;
  readonly policy: DependencyPolicy;
  readonly operations: Served[] = [];
  readonly tap: ServerTap;
  /** Who waits for a place, kept only for runs that flush it. */
  readonly waiting: Set<Exchange> | null;
  private readonly policies: OperationPolicy[] = [];

  constructor(name: string, spec: ServiceSpec, runtime: Runtime, tap: ServerTap, flushable: boolean) {
    this.name = name;
    this.runtime = runtime;
    this.tap = tap;
    this.waiting = flushable ? new Set() : null;
    const { places, queue } = spec;
    const cap = places !== undefined && {
      bulkhead: { limit: places, ...(queue !== undefined && { queue: bindQueue(queue) }) },
    };
    const options: DependencyOptions = { name, budget: "none", ...cap };
    this.policy = new DependencyPolicy(options, runtime, (attempt, work) => this.start(attempt, work));
    for (const operation of Object.keys(spec.operations)) {
      this.policies.push(this.policy.operation(operation));
    }
  }

  /** Places held. */
  get busy(): number {
    return this.policy.bulkhead?.gate.held ?? 0;
  }

  /** Requests that wait for a place. */
  get queued(): number {
    return this.policy.bulkhead?.waiting ?? 0;
  }

  /** The index of an operation, in the order of the system file. */
  indexOf(operation: string): number {
    return this.operations.findIndex(({ name }) => name === operation);
  }

  /** Serves a request; its reply goes to the exchange. */
  serve(exchange: Exchange, operation: number, deadline: number): CallProcess {
    if (this.waiting !== null) this.waiting.add(exchange);
    return (this.policies[operation] as OperationPolicy).start(exchange, PLAIN_CALL, deadline, exchange);
  }

  /** Drops everything that waits, without a word to anybody. */
  flush(): void {
    for (const exchange of this.waiting ?? []) exchange.callee?.cancel("flushed");
  }

  /** Changes the number of places. */
  resize(places: number | undefined): void {
    const { bulkhead } = this.policy;
    if (bulkhead !== null && places !== undefined && bulkhead.gate.limit !== places) bulkhead.resize(places);
  }

  private start(attempt: Attempt, work: unknown): void {
    const exchange = work as Exchange;
    if (this.waiting !== null) this.waiting.delete(exchange);
    this.tap.started(exchange, attempt);
    exchange.started();
    new Handler(exchange, attempt).begin(attempt);
  }
}
