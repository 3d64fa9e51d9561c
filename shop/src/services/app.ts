/**
 * The apps: an open-loop load. Actions arrive at random (Poisson) whatever becomes of earlier ones, and a latency
 * counts from the *scheduled* arrival, so a generator that falls behind makes its results worse, not better; how far
 * behind it was is reported.
 */
import { dependency, type Operation, SeededRandom } from "plimsoll";
import { fetch } from "plimsoll/fetch";
import { bindEdge, type SystemFile } from "plimsoll/system";
import { systemFor } from "../plan.ts";
import { type Orders, play, type Ready, type Report } from "../process.ts";
import { Seconds } from "../seconds.ts";

interface Action {
  readonly name: string;
  readonly perSecond: number;
  readonly operation: Operation;
  readonly random: SeededRandom;
  /** When the next one arrives, in seconds after zero. */
  nextAt: number;
}

/** The longest warm-up, in seconds. */
const WARM_UP_S = 20;

/** The longest an action can take after the load has ended: three attempts of 2 s and their backoff, and some more. */
const LAST_ANSWER_MS = 9_000;

class App {
  #seconds!: Seconds;
  #actions: Action[] = [];
  #url = "";
  #untilS = 0;
  #fromS = 0;
  #pending = 0;
  #id = 0;
  #lags: number[] = [];
  readonly #latencies: Map<number, number[]> = new Map();

  async prepare({ plan, ports }: Orders): Promise<Ready> {
    this.#url = `http://127.0.0.1:${ports["shop-api"]}`;
    this.#actions = this.#actionsOf(systemFor(plan), plan.seed);
    await this.#warmUp();
    this.#actions = this.#actionsOf(systemFor(plan), plan.seed);
    this.#fromS = plan.timetable.fromS - 1;
    this.#untilS = plan.timetable.untilS;
    return {};
  }

  begin(zeroAtMs: number): void {
    this.#seconds = new Seconds(zeroAtMs);
    this.#latencies.clear();
    this.#lags = [];
    for (const action of this.#actions) action.nextAt = this.#fromS + gap(action);
    this.#launch();
  }

  /**
   * Offers the load until it is served well: connections are opened and code is compiled before anything counts, as
   * before taking traffic. A timeout of 60 ms would else meet cold processes, and open breakers.
   */
  async #warmUp(): Promise<void> {
    this.#seconds = new Seconds(Date.now());
    this.#fromS = 0;
    this.#untilS = WARM_UP_S;
    for (const action of this.#actions) action.nextAt = gap(action);
    this.#launch();
    for (let second = 2; second < WARM_UP_S && !this.#servedWell(second - 1); second++) {
      await new Promise((resolve) => setTimeout(resolve, (second + 0.5 - this.#seconds.now) * 1000));
    }
    this.#untilS = 0;
    while (this.#pending > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  #servedWell(second: number): boolean {
    const [, { offered = 0, failed = 0, cartDegraded = 0, goodput = 0 } = {}] =
      this.#seconds.all.find(([at]) => at === second) ?? [];
    return offered > 0 && failed + cartDegraded === 0 && goodput > 0.9 * offered;
  }

  async end(): Promise<Report> {
    const end = performance.now() + LAST_ANSWER_MS;
    while (this.#pending > 0 && performance.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const sorted = this.#lags.sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return {
      seconds: this.#seconds.all,
      latencies: [...this.#latencies],
      lagMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
    };
  }

  #actionsOf(system: SystemFile, seed: number): Action[] {
    const { dependency: options, operations } = bindEdge(system, "app", "shop-api");
    const shop = dependency(options);
    return Object.entries(system.workload.actions).map(([name, { perSecond }]) => ({
      name,
      perSecond,
      operation: shop.operation(name, operations[name]),
      random: new SeededRandom(seed).fork(`arrivals ${name}`),
      nextAt: 0,
    }));
  }

  /** Starts what is due, and comes back for what is next. */
  #launch(): void {
    const { now } = this.#seconds;
    for (const action of this.#actions) {
      while (action.nextAt <= now && action.nextAt < this.#untilS) {
        this.#lags.push((now - action.nextAt) * 1000);
        this.#start(action, action.nextAt);
        action.nextAt += gap(action);
      }
    }
    if (now < this.#untilS) setTimeout(() => this.#launch(), 1);
  }

  async #start({ name, operation }: Action, arrivedAt: number): Promise<void> {
    const second = Math.floor(arrivedAt);
    const headers = { "x-action": String(++this.#id) };
    this.#seconds.add("offered", 1, second);
    this.#pending++;
    const outcome = await operation.outcome(async (attempt) => {
      this.#seconds.add("appAttempts");
      const response = await fetch(`${this.#url}/${name}`, attempt, { method: "POST", headers });
      return (await response.json()) as { whole: boolean; queries: number };
    });
    this.#pending--;
    if (outcome.kind !== "ok") return this.#seconds.add("failed", 1, second);
    const { whole, queries } = outcome.value;
    this.#seconds.add(whole ? name : `${name}Degraded`, 1, second);
    if (whole) this.#seconds.add("goodput");
    this.#seconds.add("dbUseful", queries);
    const latencies = this.#latencies.get(second) ?? [];
    latencies.push(this.#seconds.now - arrivedAt);
    this.#latencies.set(second, latencies);
  }
}

function gap({ random, perSecond }: Action): number {
  return -Math.log(1 - random.next()) / perSecond;
}

play(new App());
