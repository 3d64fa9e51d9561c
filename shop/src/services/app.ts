/** The apps: they send the load through the guards of the edge `app -> shop-api`, and count what becomes of it. */
import { dependency } from "plimsoll";
import { bindEdge, type SystemFile } from "plimsoll/system";
import { type Action, Load } from "../load.ts";
import { systemFor } from "../plan.ts";
import { type Orders, play, type Ready, type Report } from "../process.ts";
import { post } from "../request.ts";
import { Seconds } from "../seconds.ts";

/** The longest an action can take: three attempts of 2 s and their backoff, and some more. */
const LAST_ANSWER_MS = 9_000;
/** The longest warm-up, in seconds. */
const WARM_UP_S = 12;

class App {
  #seconds!: Seconds;
  #load!: Load;
  #actions: Action[] = [];
  #orders!: Orders;
  #sent = 0;

  async prepare(orders: Orders): Promise<Ready> {
    this.#orders = orders;
    this.#actions = this.#actionsOf(systemFor(orders.plan), `http://127.0.0.1:${orders.ports["shop-api"]}`);
    await this.#warmUp();
    return {};
  }

  begin(zeroAtMs: number): void {
    const { seed, timetable } = this.#orders.plan;
    this.#seconds = new Seconds(zeroAtMs);
    this.#load = new Load(this.#actions, seed, this.#seconds, timetable.fromS - 1, timetable.untilS);
  }

  async end(): Promise<Report> {
    await this.#load.ended(LAST_ANSWER_MS);
    const lags = this.#load.lags.map((seconds) => seconds * 1000).sort((a, b) => a - b);
    const at = (share: number) => lags[Math.min(lags.length - 1, Math.floor(share * lags.length))] ?? 0;
    return {
      seconds: this.#seconds.all,
      latencies: [...this.#load.latencies],
      lagMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
    };
  }

  /**
   * Offers the load until it is served well: connections are opened and code is compiled before anything counts, as
   * before taking traffic. A timeout of 60 ms would else meet cold processes, and open breakers.
   */
  async #warmUp(): Promise<void> {
    this.#seconds = new Seconds(Date.now());
    const load = new Load(this.#actions, this.#orders.plan.seed, this.#seconds, 0, WARM_UP_S);
    for (let second = 1; second < WARM_UP_S && !this.#servedWell(second - 2); second++) {
      await new Promise((resolve) => setTimeout(resolve, (second + 0.5 - this.#seconds.now) * 1000));
    }
    load.stop();
    await load.ended(LAST_ANSWER_MS);
  }

  #servedWell(second: number): boolean {
    const [, { offered = 0, failed = 0, cartDegraded = 0 } = {}] =
      this.#seconds.all.find(([at]) => at === second) ?? [];
    return offered > 0 && failed + cartDegraded <= 0.01 * offered;
  }

  #actionsOf(system: SystemFile, url: string): Action[] {
    const { dependency: options, operations } = bindEdge(system, "app", "shop-api");
    const shop = dependency(options);
    return Object.entries(system.workload.actions).map(([name, { perSecond }]) => {
      const operation = shop.operation(name, operations[name]);
      const path = new URL(`${url}/${name}`);
      const perform: Action["perform"] = async () => {
        const headers = { "x-action": String(++this.#sent) };
        const outcome = await operation.outcome(async (attempt) => {
          this.#seconds.add("appAttempts");
          return (await post(path, attempt, headers)) as { whole: boolean; queries: number };
        });
        if (outcome.kind !== "ok") return { as: "failed", answered: false };
        const { whole, queries } = outcome.value;
        this.#seconds.add("dbUseful", queries);
        if (whole) this.#seconds.add("goodput");
        return { as: whole ? name : `${name}Degraded`, answered: true };
      };
      return { name, perSecond, perform };
    });
  }
}

play(new App());
