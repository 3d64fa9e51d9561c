/**
 * A system file, made to move: its services, edges and users as models on one virtual clock.
 *
 * Whatever admits, refuses, waits, retries or gives up in here is a guard of the core; the models only send, work
 * and reply. Two runs with the same file, seed and operator are the same run.
 */
import type { Runtime } from "../core/runtime.ts";
import { bindEdge, edgeKey, type Functions } from "../system/bind.ts";
import type { ServiceSpec, SystemFile } from "../system/types.ts";
import { WorkTime } from "./duration.ts";
import { Link, type Stalling, type Target } from "./link.ts";
import { Server } from "./server.ts";
import { LinkTap, ServerTap } from "./taps.ts";
import { type ActionTap, Arrivals } from "./workload.ts";

/** What a world is made with. */
export interface WorldOptions {
  /** The clock that everything lives on. */
  readonly runtime: Runtime;
  /** When second 0 of the file's faults is, on the runtime's clock. */
  readonly zeroMs: number;
  /** What the file names and code does. */
  readonly functions?: Functions;
  /** Who listens to which edge (`caller -> callee`). */
  readonly linkTaps?: Readonly<Record<string, LinkTap>>;
  /** Who listens to which service. */
  readonly serverTaps?: Readonly<Record<string, ServerTap>>;
  /** Listens to the users' actions. */
  readonly actionTap: ActionTap;
  /** Services whose queues an operator will flush: who waits there is written down. */
  readonly flushable?: readonly string[];
}

const DEAF_LINK: LinkTap = new LinkTap();
const DEAF_SERVER: ServerTap = new ServerTap();

/** The models of one system. */
export class World {
  readonly runtime: Runtime;
  readonly #options: WorldOptions;
  readonly #services: Map<string, Server[]> = new Map();
  readonly #links: Map<string, Link[]> = new Map();
  readonly #arrivals: Map<string, Arrivals> = new Map();
  #system: SystemFile;

  constructor(system: SystemFile, options: WorldOptions) {
    this.runtime = options.runtime;
    this.#options = options;
    this.#system = system;
    for (const name of Object.keys(system.services)) this.#serversOf(name);
    this.#startWorkload();
  }

  /** The instances of a service. */
  servers(name: string): readonly Server[] {
    return this.#services.get(name) ?? [];
  }

  /** Makes a user act now, beside those who come by themselves. */
  act(action: string): void {
    const { loop } = this.runtime;
    const outermost = loop.enter();
    this.#arrivals.get(action)?.act();
    loop.leave(outermost);
  }

  /** From now on a share of the users is turned away. */
  shed(share: number): void {
    for (const arrivals of this.#arrivals.values()) arrivals.shed = share;
  }

  /** Drops what waits for a place in a service. */
  flush(service: string): void {
    for (const server of this.servers(service)) server.flush();
  }

  /**
   * Takes a changed file from now on: rates, places, durations, faults, guards, and more or fewer instances. Calls
   * in progress keep the guards they started with; an instance that is taken away gets no new requests.
   */
  change(system: SystemFile): void {
    this.#system = system;
    for (const [name, servers] of this.#services) this.#resize(name, servers);
    for (const [key, links] of this.#links) {
      for (const [index, link] of links.entries()) this.#guard(link, key, index);
    }
    for (const [name, arrivals] of this.#arrivals) {
      arrivals.rate(system.workload.actions[name]?.perSecond ?? 0);
    }
  }

  #startWorkload(): void {
    const { from, actions } = this.#system.workload;
    for (const [kind, [name, action]] of Object.entries(actions).entries()) {
      const target = this.#target(from, 0, action.call);
      const arrivals = new Arrivals(this.runtime, name, kind, target, this.#options.actionTap);
      this.#arrivals.set(name, arrivals);
      arrivals.rate(action.perSecond);
    }
  }

  #serversOf(name: string): Server[] {
    let servers = this.#services.get(name);
    if (servers === undefined) {
      servers = [];
      this.#services.set(name, servers);
      this.#resize(name, servers);
    }
    return servers;
  }

  #resize(name: string, servers: Server[]): void {
    const spec = this.#system.services[name] as ServiceSpec;
    const count = spec.instances ?? 1;
    for (const server of servers) {
      server.resize(spec.places);
      this.#describe(name, spec, server);
    }
    while (servers.length < count) servers.push(this.#server(name, spec, servers.length));
    servers.length = count;
  }

  #server(name: string, spec: ServiceSpec, index: number): Server {
    const { serverTaps, flushable = [] } = this.#options;
    const label = instanceName(name, index, spec);
    const tap = serverTaps?.[name] ?? DEAF_SERVER;
    const server = new Server(label, spec, this.runtime, tap, flushable.includes(name));
    for (const [operation, { effect, calls = [] }] of Object.entries(spec.operations)) {
      const targets = calls.map((call) => this.#target(name, index, call));
      const random = this.runtime.random.fork(`work ${label}.${operation}`);
      const time = new WorkTime(undefined, [], 0, random);
      server.operations.push({ server, name: operation, write: effect === "write", time, calls: targets });
    }
    this.#describe(name, spec, server);
    return server;
  }

  /** How long the operations of a server take. Streams of randomness go on where they are. */
  #describe(name: string, spec: ServiceSpec, server: Server): void {
    const faults = (this.#system.faults ?? []).filter((f) => f.kind === "slow" && f.service === name);
    for (const served of server.operations) {
      const { work } = spec.operations[served.name] ?? {};
      served.time = new WorkTime(work, faults, this.#options.zeroMs, served.time.stream);
    }
  }

  /** Instance `index` of `from`, calling `service.operation`. */
  #target(from: string, index: number, call: string): Target {
    const dot = call.indexOf(".");
    const to = call.slice(0, dot);
    const key = edgeKey(from, to);
    let links = this.#links.get(key);
    if (links === undefined) {
      links = [];
      this.#links.set(key, links);
    }
    let link = links[index];
    if (link === undefined) {
      const servers = this.#serversOf(to);
      const spec = this.#system.services[from];
      const label = edgeKey(instanceName(from, index, spec), to);
      link = new Link(this.runtime, label, servers, this.#options.linkTaps?.[key] ?? DEAF_LINK);
      links[index] = link;
      this.#guard(link, key, index);
    }
    return link.targets.get(call.slice(dot + 1)) as Target;
  }

  #guard(link: Link, key: string, index: number): void {
    const [from = "", to = ""] = key.split(" -> ");
    const name = edgeKey(instanceName(from, index, this.#system.services[from]), to);
    const lost = (this.#system.faults ?? []).some((f) => f.kind === "cancelsLost" && f.edge === key);
    const stall = (this.#system.faults ?? []).find((f) => f.kind === "stall" && f.edge === key);
    link.guard(
      bindEdge(this.#system, from, to, this.#options.functions, name),
      lost,
      (stall as Stalling) ?? null,
    );
  }
}

/** What an instance is called in events, and what its randomness is forked by. */
function instanceName(service: string, index: number, spec: ServiceSpec | undefined): string {
  return spec?.instances === undefined ? service : `${service}.${index + 1}`;
}
