/** stock: workers in front of a few storage slots. Every call makes one query; a reserve's query commits. */
import { dependency, type Operation, type OperationOptions } from "plimsoll";
import { bindEdge, type SystemFile } from "plimsoll/system";
import { open, reply, type Service, unavailable } from "../places.ts";
import { parametersFor, systemFor } from "../plan.ts";
import { type Orders, play, type Ready, type Report } from "../process.ts";
import { Seconds } from "../seconds.ts";
import { Slots } from "../slots.ts";

/** Enough for a mean within about 3 %. */
const MEASURED_PIECES = 1_000;

class Stock {
  #seconds: Seconds | null = null;
  #slots!: Slots;
  #service!: Service;
  #hiccup = { factor: 1, untilS: 0 };
  readonly #commits: Map<string, number> = new Map();

  async prepare({ plan }: Orders): Promise<Ready> {
    const parameters = parametersFor(plan);
    const system = systemFor(plan);
    this.#hiccup = { factor: parameters["hiccup.factor"], untilS: parameters["hiccup.toS"] };
    this.#slots = new Slots({
      slots: parameters["db.connections"],
      meanMs: parameters["db.queryMs"],
      seed: plan.seed,
      factor: () => this.#factor(),
    });
    const meanWorkMs = await this.#slots.measure(MEASURED_PIECES);
    this.#service = await this.#open(system);
    return { port: this.#service.port, meanWorkMs };
  }

  begin(zeroAtMs: number): void {
    this.#seconds = new Seconds(zeroAtMs);
    const { bulkhead } = this.#service;
    this.#seconds.sample(() => ({
      insideStock: bulkhead.gate.held + bulkhead.waiting,
      waitingForConnection: this.#slots.bulkhead.waiting,
    }));
  }

  async end(): Promise<Report> {
    return { seconds: this.#seconds?.all ?? [] };
  }

  #factor(): number {
    const now = this.#seconds?.now ?? -1;
    return now >= 0 && now < this.#hiccup.untilS ? this.#hiccup.factor : 1;
  }

  #open(system: SystemFile): Promise<Service> {
    const { dependency: options, operations, wire } = bindEdge(system, "stock", "database");
    const database = dependency(options);
    const queries: Record<string, Operation> = {
      "/view": database.operation("read", operations.read as OperationOptions),
      "/reserve": database.operation("commit", operations.commit as OperationOptions),
    };
    return open(system, "stock", "shop-api", async (request, response) => {
      const query = queries[request.url ?? ""];
      if (query === undefined) return reply(response, 404, {});
      const outcome = await query.outcome(async (attempt) => {
        await this.#slots.work(
          wire.deadline === "none" ? {} : { deadline: attempt.deadline, signal: attempt.signal },
        );
        this.#finished(request.url === "/reserve" ? String(request.headers["x-action"]) : null);
      });
      if (outcome.kind === "ok") reply(response, 200, {});
      else unavailable(response, wire.unavailable === "final");
    });
  }

  #finished(action: string | null): void {
    const seconds = this.#seconds;
    if (seconds === null) return;
    seconds.add("dbFinished");
    if (action === null) return;
    const commits = (this.#commits.get(action) ?? 0) + 1;
    this.#commits.set(action, commits);
    if (commits === 2) seconds.add("duplicatedCheckouts");
    if (commits > 1) seconds.add("extraCommits");
  }
}

play(new Stock());
