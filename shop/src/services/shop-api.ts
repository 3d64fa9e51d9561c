/** shop-api: places for requests, 10 ms of its own work, a call to prices, and for carts and checkouts one to stock. */
import { type Attempt, dependency, listen, type Operation, type PlimsollEvent } from "plimsoll";
import { createFetch, type GuardedFetch } from "plimsoll/fetch";
import { bindEdge, type SystemFile } from "plimsoll/system";
import { FUNCTIONS, parametersFor, systemFor } from "../plan.ts";
import { type Orders, play, type Ready, type Report, type Role } from "../process.ts";
import { Seconds } from "../seconds.ts";
import { type Answer, type Incoming, open, type Service, unavailable } from "../service.ts";
import { sleep } from "../sleep.ts";
import { Notes } from "../trace.ts";

/** One of the services below: how it is called, and where. */
interface Below {
  readonly name: "prices" | "stock";
  readonly operations: Readonly<Record<string, Operation<unknown>>>;
  readonly fetch: GuardedFetch;
  readonly url: string;
}

/** The operation of stock that an action needs. */
const NEEDS: Readonly<Record<string, string | null>> = { product: null, cart: "view", checkout: "reserve" };

class ShopApi implements Role {
  #seconds: Seconds | null = null;
  readonly #notes = new Notes();
  #service!: Service;
  #workMs = 0;
  #prices!: Below;
  #stock!: Below;
  #final = false;

  async prepare({ plan, ports, port }: Orders): Promise<Ready> {
    const system = systemFor(plan);
    this.#workMs = parametersFor(plan)["shop-api.workMs"];
    this.#final = system.edges["app -> shop-api"]?.wire.unavailable === "final";
    this.#prices = below(system, "prices", ports);
    this.#stock = below(system, "stock", ports);
    const routes = Object.entries(NEEDS).map(([action, needs]) => [
      `/${action}`,
      (incoming: Incoming) => this.#serve(incoming, needs),
    ]);
    const place = { name: "shop-api", caller: "app", port };
    this.#service = await open(system, place, Object.fromEntries(routes));
    return { port: this.#service.port };
  }

  begin(zeroAtMs: number): void {
    this.#notes.zeroAtMs = zeroAtMs;
    this.#seconds = new Seconds(zeroAtMs);
    const { bulkhead } = this.#service;
    this.#seconds.sample(() => ({ queued: bulkhead.waiting, busy: bulkhead.gate.held }));
    listen((event) => this.#heard(event));
  }

  async end(): Promise<Report> {
    const { all = [], vitals } = this.#seconds ?? {};
    return { seconds: all, vitals: vitals?.all ?? [], steps: this.#notes.steps };
  }

  async #serve(incoming: Incoming, needs: string | null): Promise<Answer> {
    const { trace, arrivedAt, leftMs } = incoming;
    const waitedMs = performance.now() - arrivedAt;
    const note = `waited ${waitedMs.toFixed(1)} ms for a place`;
    this.#notes.add(trace, { hop: "shop-api", what: "arrived", leftMs, note }, arrivedAt);
    await sleep(this.#workMs);
    const answer = await this.#answer(incoming, needs);
    this.#notes.add(trace, {
      hop: "shop-api",
      what: "ended",
      leftMs: arrivedAt + leftMs - performance.now(),
      note: JSON.stringify(answer.body) === "{}" ? String(answer.status) : JSON.stringify(answer.body),
    });
    return answer;
  }

  async #answer(incoming: Incoming, needs: string | null): Promise<Answer> {
    const priced = await this.#call(this.#prices, "price", incoming);
    if (priced === "none") return unavailable(this.#final);
    if (needs === null) return { status: 200, body: { whole: true, queries: 0 } };
    const stocked = await this.#call(this.#stock, needs, incoming);
    if (stocked === "none") return unavailable(this.#final);
    const whole = stocked === "whole";
    return { status: 200, body: { whole, queries: whole ? 1 : 0 } };
  }

  /** Calls a service below, and says what came of it. */
  async #call(to: Below, operation: string, incoming: Incoming): Promise<"whole" | "degraded" | "none"> {
    const { action, trace } = incoming;
    const headers = { "x-action": action, ...(trace !== undefined && { "x-trace": trace }) };
    const outcome = await (to.operations[operation] as Operation<unknown>).outcome(async (attempt) => {
      this.#sent(to, trace, attempt);
      const answer = await to.fetch(`${to.url}/${operation}`, attempt, { method: "POST", headers });
      await answer.json();
    });
    if (outcome.kind !== "ok") return "none";
    return outcome.degradedBy === undefined ? "whole" : "degraded";
  }

  #sent({ name }: Below, trace: string | undefined, { number, timeLeftMs }: Attempt): void {
    this.#notes.add(trace, {
      hop: "shop-api",
      what: "sent",
      to: name,
      attempt: number,
      leftMs: timeLeftMs,
    });
  }

  /** Counts what the guards of the calls to stock report. */
  #heard(event: PlimsollEvent): void {
    const seconds = this.#seconds;
    if (seconds === null || event.dependency !== "stock") return;
    if (event.type === "attempt.sent") {
      if (event.kind === "fallback") return;
      seconds.add("stockCalls");
      if (event.attempt > 1) seconds.add("retries");
    } else if (
      event.type === "attempt.answered" &&
      (event.ending === "timeout" || event.ending === "clipped")
    ) {
      seconds.add("timeouts");
    } else if (event.type === "attempt.refused" || event.type === "retry.stopped") {
      seconds.add(`refused.${event.by}`);
    }
  }
}

/** The guards of the calls to a service, from the system file, and where it listens. */
function below(system: SystemFile, name: "prices" | "stock", ports: Orders["ports"]): Below {
  const { dependency: options, operations, wire } = bindEdge(system, "shop-api", name, FUNCTIONS);
  const callee = dependency(options);
  const guarded = Object.entries(operations).map(([key, guards]) => [key, callee.operation(key, guards)]);
  return {
    name,
    operations: Object.fromEntries(guarded),
    fetch: createFetch({ marginMs: wire.marginMs ?? 0 }),
    url: `http://127.0.0.1:${ports[name]?.[0]}`,
  };
}

play(new ShopApi());
