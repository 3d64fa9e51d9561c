/** shop-api: places for requests, 10 ms of its own work, and for carts and checkouts a guarded call to stock. */
import { dependency, listen, type Operation, type PlimsollEvent } from "plimsoll";
import { fetch } from "plimsoll/fetch";
import { bindEdge, type SystemFile, WITHOUT_BADGES } from "plimsoll/system";
import { open, reply, type Service, unavailable } from "../places.ts";
import { parametersFor, systemFor } from "../plan.ts";
import { type Orders, play, type Ready, type Report } from "../process.ts";
import { Seconds } from "../seconds.ts";
import { sleep } from "../slots.ts";

class ShopApi {
  #seconds: Seconds | null = null;
  #service!: Service;

  async prepare({ plan, ports }: Orders): Promise<Ready> {
    const workMs = parametersFor(plan)["shop-api.workMs"];
    this.#service = await this.#open(systemFor(plan), workMs, `http://127.0.0.1:${ports.stock}`);
    return { port: this.#service.port };
  }

  begin(zeroAtMs: number): void {
    this.#seconds = new Seconds(zeroAtMs);
    const { bulkhead } = this.#service;
    this.#seconds.sample(() => ({ queued: bulkhead.waiting, busy: bulkhead.gate.held }));
    listen((event) => this.#heard(event));
  }

  async end(): Promise<Report> {
    return { seconds: this.#seconds?.all ?? [] };
  }

  #open(system: SystemFile, workMs: number, stockUrl: string): Promise<Service> {
    const badges = { [WITHOUT_BADGES]: () => "unknown" };
    const { dependency: options, operations } = bindEdge(system, "shop-api", "stock", { fallbacks: badges });
    const stock = dependency(options);
    const calls: Record<string, [string, Operation<unknown>]> = {
      "/cart": ["/view", stock.operation("view", operations.view)],
      "/checkout": ["/reserve", stock.operation("reserve", operations.reserve)],
    };
    const final = system.edges["app -> shop-api"]?.wire.unavailable === "final";
    return open(system, "shop-api", "app", async (request, response) => {
      await sleep(workMs);
      const call = calls[request.url ?? ""];
      if (call === undefined) return reply(response, 200, { whole: true, queries: 0 });
      const [path, operation] = call;
      const headers = { "x-action": String(request.headers["x-action"]) };
      const outcome = await operation.outcome(async (attempt) => {
        await fetch(stockUrl + path, attempt, { method: "POST", headers }).then((answer) => answer.json());
      });
      if (outcome.kind !== "ok") return unavailable(response, final);
      const whole = outcome.degradedBy === undefined;
      reply(response, 200, { whole, queries: whole ? 1 : 0 });
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

play(new ShopApi());
